import { type Clock, type Random, between } from '../lib/clock.ts';
import { hasPage, listen } from '../lib/browser/page.ts';

/** Whether the page stays or is being left. */
export interface PageLife {
  /**
   * Resolves once it is known that the page stays, and never if it does not. Undefined while nothing
   * suggests that the user leaves the page.
   */
  readonly fate: () => Promise<void> | undefined;
  /** Whether a timer that was set at `sinceMs` and fires late is late because the page slept. */
  readonly wasAsleep: (sinceMs: number) => boolean;
  readonly dispose: () => void;
}

/** After this time, a page whose requests were cut off is known to stay: a random time between the two. */
const leastMs = 500;
const mostMs = 1000;

/** A page that was hidden by `pagehide` soon runs no timers. After this many timers, it is known to stay. */
const mostTurns = 12;

/** How long a navigation may wait for its server. When it ends, it cuts off what was sent meanwhile. */
const leavingMs = 30_000;

/**
 * Watches whether the user leaves the page. Browsers reject requests under way when that happens, some
 * before `pagehide`, and also when the page then stays: for a download, or an answer 204.
 *
 * @returns undefined where there is no page.
 */
export function watchPageLife(clock: Clock, random: Random): PageLife | undefined {
  if (!hasPage()) return undefined;
  let isAway = false;
  let leftAt = -Infinity;
  let thawedAt = -Infinity;
  const unwatch = onPageEvent((event) => {
    if (event === 'leave') leftAt = clock.now();
    else if (event === 'hide') isAway = true;
    else if (event === 'show') isAway = false;
    else if (event === 'thaw') thawedAt = clock.now();
  });

  return {
    fate() {
      const agoMs = clock.now() - leftAt;
      // The time is negative if the clock was set back.
      if (!isAway && (agoMs < 0 || agoMs > leavingMs)) return undefined;
      return new Promise((resolve) => {
        // A random time, so that requests that were cut off together are not sent again together.
        const wait = (turn: number): void => {
          const onTimer = (): void => {
            if (isAway && turn < mostTurns) return wait(turn + 1);
            isAway = false;
            resolve();
          };
          clock.setTimeout(onTimer, between(random, leastMs, mostMs));
        };
        wait(1);
      });
    },
    // In a visible tab that is awake, timers fire in time.
    wasAsleep: (sinceMs) => thawedAt >= sinceMs || document.visibilityState !== 'hidden',
    dispose() {
      unwatch();
      isAway = false;
      leftAt = -Infinity;
    },
  };
}

/** A reason to check the network: an event of the browser, or the page became visible. */
export type HintEvent = 'online' | 'offline' | 'visible';

/** The browser's hint about the network: a reason to check, never proof. */
export interface Hint {
  /** `navigator.onLine === false`. */
  readonly isOffline: () => boolean;
  /** Calls the listener until the returned function is called. */
  readonly watch: (listener: (event: HintEvent) => void) => () => void;
}

/** Whether the browser takes the device for offline; false where there is no page. */
export const isOfflineByHint = (): boolean =>
  hasPage() && (globalThis as Partial<typeof globalThis>).navigator?.onLine === false;

/** The browser's hint; undefined where there is no page: on a server, in a worker, in React Native. */
export function browserHint(): Hint | undefined {
  if (!hasPage()) return undefined;
  return {
    isOffline: isOfflineByHint,
    watch: (listener) =>
      onPageEvent((event) => {
        if (event === 'online' || event === 'offline' || event === 'visible') listener(event);
      }),
  };
}

/**
 * An event of the page. `leave`: the user may leave it; `hide` and `show`: it went into the back-forward cache or came
 * out of it; `thaw`: it was frozen until now.
 */
type PageEvent = HintEvent | 'leave' | 'hide' | 'show' | 'thaw';

/** Calls the listener until the returned function is called. Needs a document. */
function onPageEvent(listener: (event: PageEvent) => void): () => void {
  const stops: (() => void)[] = [];
  const on = (target: EventTarget, type: string, act: () => void): void =>
    void stops.push(listen(target, type, act));
  const emitVisible = (): void => {
    if (document.visibilityState === 'visible') listener('visible');
  };
  on(window, 'online', () => listener('online'));
  on(window, 'offline', () => listener('offline'));
  on(document, 'visibilitychange', emitVisible);
  on(document, 'resume', () => {
    listener('thaw');
    emitVisible();
  });
  on(window, 'beforeunload', () => listener('leave'));
  on(window, 'pagehide', () => listener('hide'));
  // Also fires when the page comes back from the back-forward cache.
  on(window, 'pageshow', () => {
    listener('show');
    emitVisible();
  });
  return () => {
    for (const stop of stops) stop();
  };
}

/** The network state that a source reports; null means not known. */
export interface ConnectivitySourceState {
  readonly isConnected: boolean | null;
  readonly isInternetReachable?: boolean | null | undefined;
}

/** A source of network state in an environment without a browser. React Native's NetInfo has this form. */
export interface ConnectivitySource {
  /** Calls the listener with the current state and at each change, until the returned function is called. */
  readonly addEventListener: (listener: (state: ConnectivitySourceState) => void) => () => void;
}

/** A source's hint about the network: a reason to check, never proof. */
export function sourceHint(
  source: ConnectivitySource,
  onSeen: (listener: (isSeen: boolean) => void) => () => void,
): Hint {
  let isOffline = false;
  return {
    isOffline: () => isOffline,
    watch(listener) {
      let wasOffline = false;
      const stops = [
        source.addEventListener(({ isConnected, isInternetReachable }) => {
          isOffline = [isConnected, isInternetReachable].includes(false);
          if (wasOffline === isOffline) return;
          wasOffline = isOffline;
          listener(isOffline ? 'offline' : 'online');
        }),
        onSeen((isSeen) => isSeen && listener('visible')),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}
