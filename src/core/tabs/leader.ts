import type { Clock, Random } from '../lib/clock.ts';

/** A message from a tab to the others about an origin, or about one endpoint of it (`scope`). */
export type TabMessage =
  /** The scope is down. The tab that probes it repeats this message every few seconds. */
  | { readonly kind: 'down'; readonly scope: string; readonly isProbed: boolean }
  /** The scope has answered. */
  | { readonly kind: 'up'; readonly scope: string }
  /** The scope accepts this many more requests within `forMs`. */
  | {
      readonly kind: 'limit';
      readonly scope: string;
      readonly forMs: number;
      readonly remaining: number;
    }
  /** The pace of its requests: one was sent or, with a pause, was refused. */
  | {
      readonly kind: 'pace';
      readonly scope: string;
      readonly gapMs: number;
      readonly pauseMs: number;
      readonly isFound: boolean;
      /** True if the refusal came without a time. */
      readonly isUntold: boolean;
    };

/** Receives the messages about one origin. `from` is the random number of the sending tab. */
export type Receive = (message: TabMessage, from: number) => void;

/** Connects the admission of an origin with those of the same origin in other tabs. */
export interface Line {
  /** The number of this tab. If two tabs probe, the one with the lower number continues. */
  readonly id: () => number;
  readonly post: (message: TabMessage) => void;
  /** Whether this tab may probe for others. A hidden tab may not, because its timers are late. */
  readonly isSeen: () => boolean;
  /** Stops receiving messages. */
  readonly close: () => void;
}

/** Called when this tab begins or stops to probe something for all tabs. */
export type LeadListener = (scope: string, isLeader: boolean) => void;

/** Decides which tab probes what is down. */
export interface Leader extends Pick<Line, 'post' | 'close'> {
  /** Another tab says that it probes. @returns whether this tab leaves the probe to it. */
  readonly yieldTo: (scope: string, from: number) => boolean;
  /** Whether another tab probes, as far as its recent messages show. */
  readonly isElsewhere: (scope: string) => boolean;
  /**
   * Until when this tab leaves the probe to the other one. `sinceMs`: when a user began to wait here, or this
   * tab last probed. `lastAt`: the last chance before the requests that wait here give up; a leader silent
   * until then may be dead.
   */
  readonly waitsUntil: (
    scope: string,
    isForeground: boolean,
    sinceMs: number,
    lastAt: number,
  ) => number;
  /** Makes this tab the one that probes, and announces it. */
  readonly lead: (scope: string) => void;
  /** Stops probing, because no request waits for it here. */
  readonly rest: (scope: string) => void;
  /** Forgets it, because it is up. */
  readonly leave: (scope: string) => void;
  /** Repeats the announcements that are due. @returns when the next one is. */
  readonly repeat: () => number;
}

/** How often a leader announces itself. */
const repeatMs = 3000;
/** A leader that is silent for longer hangs or is hidden: another tab probes. */
const silentMs = 6000;
const silentSpreadMs = 2500;
/** If no user waits, the leader may be a hidden tab, whose timers are late. */
const backgroundMs = 30_000;
/** The longest time that messages of another tab can make a user wait. */
const longestMs = 15_000;

export function createLeader(
  clock: Clock,
  random: Random,
  line: Line,
  onLead: LeadListener,
): Leader {
  /** The scopes that this tab probes, with the time of the latest announcement. */
  const led = new Map<string, number>();
  /** The scopes that other tabs probe. */
  const followed = new Map<string, Silence>();

  const announce = (scope: string): void => {
    led.set(scope, clock.now());
    line.post({ kind: 'down', scope, isProbed: true });
  };
  /** The empty scope is the origin, which includes all of its endpoints. */
  const forget = (all: Map<string, unknown>, scope: string, onForget?: LeadListener): void => {
    for (const one of all.keys())
      if ((scope === '' || scope === one) && all.delete(one)) onForget?.(one, false);
  };
  return {
    post: line.post,
    close: line.close,
    yieldTo(scope, from) {
      // Of two leaders, the one with the lower number continues.
      if (led.has(scope) && line.id() < from) return false;
      forget(led, scope, onLead);
      followed.set(scope, silentAt(clock.now(), random()));
      return true;
    },
    isElsewhere: (scope) => (followed.get(scope)?.[1] ?? 0) > clock.now(),
    waitsUntil(scope, isForeground, sinceMs, lastAt) {
      const [foregroundAt, backgroundAt] = followed.get(scope) ?? [0, 0];
      return isForeground
        ? Math.min(foregroundAt, sinceMs + longestMs)
        : Math.max(foregroundAt, Math.min(backgroundAt, lastAt));
    },
    lead(scope) {
      followed.delete(scope);
      const isNew = !led.has(scope);
      announce(scope);
      if (isNew) onLead(scope, true);
    },
    rest: (scope) => forget(led, scope, onLead),
    leave(scope) {
      forget(led, scope, onLead);
      forget(followed, scope);
    },
    repeat() {
      if (!line.isSeen()) return Infinity;
      let next = Infinity;
      for (const [scope, announcedAt] of led) {
        if (clock.now() >= announcedAt + repeatMs) announce(scope);
        next = Math.min(next, (led.get(scope) ?? 0) + repeatMs);
      }
      return next;
    },
  };
}

/** Until when a user's request, and background requests, leave the probe to a leader that stays silent. */
type Silence = readonly [foregroundAt: number, backgroundAt: number];

const silentAt = (now: number, share: number): Silence => [
  now + silentMs + share * silentSpreadMs,
  now + (1 + share) * backgroundMs,
];
