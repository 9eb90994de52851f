import {
  type CheckOptions,
  type CheckResult,
  type ConnectivityOptions,
  checkConnectivity,
  sendCheck,
} from '../connectivity/check.ts';
import { Connectivity, type WatchContext } from '../connectivity/connectivity.ts';
import {
  type PageLife,
  type Hint,
  type HintEvent,
  browserHint,
  isOfflineByHint,
  watchPageLife,
  sourceHint,
} from '../connectivity/page-life.ts';
import type { Outlive } from '../fetch/attempt/attempt.ts';
import { resend, outlivePage } from '../fetch/attempt/page-exit.ts';
import type { SleepDetector } from '../lib/timer.ts';
import { originOf } from '../lib/input/url.ts';
import type { Transport } from '../lib/clock.ts';
import { type MadeBy, code } from '../lib/input/made-by.ts';
import { focusManager, onlineManager } from '@tanstack/react-query';
import type { Network } from '../origin/origin.ts';
import { watchConnection } from '../lib/browser/page.ts';
import { createEmitter, createStore } from '../lib/store.ts';
import { isServer } from './instance.ts';

/** The part of an instance that the watch over the network needs. */
type OpenContext = Pick<WatchContext, 'clock' | 'random' | 'sleepDetector' | 'knownOrigins'> & {
  readonly transport: Transport;
};

/** The code of the watch over the network. */
export interface ConnectivityCode {
  readonly by: 'watchConnectivity';
  readonly outlive: Outlive;
  readonly open: (context: OpenContext) => {
    readonly connectivity: Connectivity;
    /** Undefined where there is no page. */
    readonly page: PageLife | undefined;
    /** The check was answered by this origin after this time. */
    readonly wasReached: (origin: string, sinceMs: number) => boolean;
    readonly dispose: () => void;
  };
}

/**
 * Watches the network, for the option `connectivity`: by the results of requests and, if it is given one, by a check of
 * its own. It sets React Query's `onlineManager`. Requests that the browser cuts off while the page is left are no
 * failures.
 *
 * @throws TypeError when an option is not as it must be.
 *
 * @example
 * ```ts
 * const watching = createSteadfetch({ connectivity: watchConnectivity({ check: '/ping' }) });
 * ```
 */
export function watchConnectivity(options: ConnectivityOptions = {}): MadeBy<'watchConnectivity'> {
  const check = checkConnectivity('watchConnectivity', options);
  const { source } = options;
  const made: ConnectivityCode = {
    by: 'watchConnectivity',
    outlive: { outlivePage, resend },
    open({ clock, random, sleepDetector, transport, knownOrigins }) {
      const hint = source
        ? sourceHint(source, (listener) => focusManager.subscribe(listener))
        : browserHint();
      const page = watchPageLife(clock, random);
      const checked = originOf(check?.url ?? '');
      let reachedAt = -Infinity;
      const runCheck = async (given: CheckOptions, signal: AbortSignal): Promise<CheckResult> => {
        const result = await sendCheck(clock, transport, given, signal);
        if (result === 'reached') reachedAt = clock.now();
        return result;
      };
      const connectivity = new Connectivity({
        clock,
        random,
        sleepDetector,
        hint,
        check: hint && check ? (signal) => runCheck(check, signal) : undefined,
        checkOrigin: (origin, signal) => sendCheck(clock, transport, { url: `${origin}/` }, signal),
        knownOrigins,
      });
      const giveBack = hint && feedOnlineManager(connectivity, hint);
      return {
        connectivity,
        page,
        wasReached: (origin, sinceMs) => origin === checked && reachedAt >= sinceMs,
        dispose() {
          giveBack?.();
          page?.dispose();
          connectivity.dispose();
        },
      };
    },
  };
  return { [code]: made };
}

/** The network as React Query sees it, by the browser's events. Used without `watchConnectivity`. */
interface BrowserNetwork {
  readonly network: Network;
  readonly connectivity: Pick<Connectivity, 'recordAnswer' | 'recordNoAnswer'>;
  readonly dispose: () => void;
}

/**
 * React Query believes the browser's events, and a page that is loaded offline gets no event. There `navigator.onLine`
 * is a hint, until a request is answered.
 */
export function createBrowserNetwork(sleepDetector: SleepDetector): BrowserNetwork {
  const { getState, subscribe, set } = createStore(false);
  const { emit, on: onBack } = createEmitter();
  let isAnswered = false;
  const update = (): void => {
    const wasOffline = getState();
    set(!onlineManager.isOnline());
    if (wasOffline && !getState()) emit();
  };
  // A listener would keep the whole instance, and a server makes one for each request.
  const stops = isServer() ? [] : [onlineManager.subscribe(update), watchConnection(emit)];
  if (stops.length > 0) update();
  return {
    network: {
      isOffline: getState,
      retryAt: () => undefined,
      subscribe,
      sleepDetector,
      isDoubtful: () => !isAnswered && isOfflineByHint(),
      onBack,
    },
    connectivity: {
      recordAnswer() {
        isAnswered = true;
      },
      // The server is the cause, unless React Query says that the device is offline.
      recordNoAnswer: (_sentAt, _url, onCause) => onCause(onlineManager.isOnline()),
    },
    dispose() {
      for (const stop of stops) stop();
      set(false);
    },
  };
}

interface Feeder {
  readonly connectivity: Connectivity;
  readonly hint: Hint;
}

/** The instances that can feed React Query's `onlineManager`. The newest one does, unless it was disposed of. */
const feeders: Feeder[] = [];

/**
 * Feeds React Query's `onlineManager` in place of the browser's events. So it also knows of a page that was loaded
 * offline, and of changes while no client is mounted.
 *
 * @returns a function that restores the `onlineManager` of React Query itself.
 */
function feedOnlineManager(connectivity: Connectivity, hint: Hint): () => void {
  const feeder = { connectivity, hint };
  feeders.push(feeder);
  listenTo(feeder);
  return () => {
    const at = feeders.indexOf(feeder);
    if (at < 0) return;
    const wasNewest = at === feeders.length - 1;
    feeders.splice(at, 1);
    const next = feeders[feeders.length - 1];
    if (!wasNewest) return;
    if (next) return listenTo(next);
    onlineManager.setEventListener((setOnline) => {
      const stop = new AbortController();
      const { signal } = stop;
      // React Native has no `addEventListener`.
      const { addEventListener: on } = globalThis as Partial<typeof globalThis>;
      on?.('online', () => setOnline(true), { signal });
      on?.('offline', () => setOnline(false), { signal });
      return () => stop.abort();
    });
    onlineManager.setOnline(true);
  };
}

function listenTo({ connectivity, hint }: Feeder): void {
  onlineManager.setEventListener((setOnline) => {
    let reported: boolean | undefined;
    let hinted: HintEvent | undefined;
    /** The browser has reported that it is offline, and no request was answered since. */
    let isDenied = false;
    // Only changes are reported, so a value that was set by hand stays, as by the devtools.
    const report = (): void => {
      const { status } = connectivity.getState();
      isDenied &&= status !== 'online';
      const isOnline = status !== 'offline' && !isDenied;
      if (isOnline !== reported) setOnline((reported = isOnline));
    };
    report();
    const stops = [
      connectivity.subscribe(report),
      hint.watch((event) => {
        if (event === 'visible') return;
        // `refetchOnReconnect` needs this event even if an answer has shown before that the device is online.
        const isNews = event === 'online' && hinted === 'offline' && reported;
        hinted = event;
        // Believed at once, as by React Query itself: a plain mutation that is sent offline fails and is not retried.
        // But only with a check: otherwise nothing could refute it while everything is paused.
        isDenied = event === 'offline' && connectivity.canCheck();
        report();
        if (!isNews || !onlineManager.isOnline()) return;
        setOnline(false);
        setOnline(true);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  });
}
