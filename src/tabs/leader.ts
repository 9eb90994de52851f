import type { Clock, Random } from '../lib/clock.ts';

/** What a tab says to the others of an origin, or of one endpoint of it (`scope`). */
export type Word =
  /** It is down. If this tab probes it, that is said again every few seconds, while it is so. */
  | { readonly kind: 'down'; readonly scope: string; readonly isProbed: boolean }
  /** It has answered. */
  | { readonly kind: 'up'; readonly scope: string }
  /** It takes as many more requests within `forMs`. */
  | {
      readonly kind: 'limit';
      readonly scope: string;
      readonly forMs: number;
      readonly remaining: number;
    }
  /** Its requests go so far apart: one has gone or, with a pause, was refused. */
  | {
      readonly kind: 'pace';
      readonly scope: string;
      readonly gapMs: number;
      readonly pauseMs: number;
      readonly isFound: boolean;
    };

/** What the admission of one origin hears. `from` is a number for each tab. */
export type Hear = (word: Word, from: number) => void;

/** The way from one admission to those of the same origin in other tabs. */
export interface Line {
  /** The number of this tab: of two that probe, the lower one goes on. */
  readonly id: () => number;
  readonly say: (word: Word) => void;
  /** Whether this tab may probe for others: not while it is hidden, because its timers are late. */
  readonly isSeen: () => boolean;
  /** Nothing is heard on it any more. */
  readonly close: () => void;
}

/** Is told when this tab begins to probe something for all tabs, and when it no longer does. */
export type LeadListener = (scope: string, isLeader: boolean) => void;

/** Which tab probes what is down: this one, or another that says so. */
export interface Leader extends Pick<Line, 'say' | 'close'> {
  /** Another tab says that it probes. @returns whether this tab leaves it to that one. */
  readonly hear: (scope: string, from: number) => boolean;
  /** Whether another tab probes, as far as it has been heard of lately. */
  readonly isElsewhere: (scope: string) => boolean;
  /**
   * Until when this tab leaves the probe to the other one. `sinceMs`: when a user began to wait here, or this
   * tab has probed last. `lastAt`: whoever waits here gives up soon after; what is silent then may be dead.
   */
  readonly waitsUntil: (
    scope: string,
    isForeground: boolean,
    sinceMs: number,
    lastAt: number,
  ) => number;
  /** This tab probes: from now on it says so to the others. */
  readonly lead: (scope: string) => void;
  /** Nobody waits for it here: this tab probes it no longer. */
  readonly rest: (scope: string) => void;
  /** It is up. */
  readonly leave: (scope: string) => void;
  /** Says again what holds, where that is due. @returns when to come back. */
  readonly repeat: () => number;
}

/** A leader says that it is there so often. */
const repeatMs = 3000;
/** One that has said nothing for so long hangs, or is hidden: another tab probes. */
const silentMs = 6000;
const silentSpreadMs = 2500;
/** Where no user waits, it may be a hidden tab, whose timers are late. */
const backgroundMs = 30_000;
/** No word of another tab makes a user wait for longer. */
const longestMs = 15_000;

export function createLeader(
  clock: Clock,
  random: Random,
  line: Line,
  onLead: LeadListener,
): Leader {
  /** What this tab probes, and when it said so. */
  const led = new Map<string, number>();
  /** What others probe. */
  const followed = new Map<string, Silence>();

  const say = (scope: string): void => {
    led.set(scope, clock.now());
    line.say({ kind: 'down', scope, isProbed: true });
  };
  /** Of the origin, which has the empty scope, its endpoints are a part. */
  const forget = (all: Map<string, unknown>, scope: string, onForget?: LeadListener): void => {
    for (const one of all.keys())
      if ((scope === '' || scope === one) && all.delete(one)) onForget?.(one, false);
  };
  return {
    say: line.say,
    close: line.close,
    hear(scope, from) {
      // Of two leaders, the one with the lower number goes on.
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
      say(scope);
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
      for (const [scope, saidAt] of led) {
        if (clock.now() >= saidAt + repeatMs) say(scope);
        next = Math.min(next, (led.get(scope) ?? 0) + repeatMs);
      }
      return next;
    },
  };
}

/** Until when a user, and the background, leave the probe to a leader that says nothing more. */
type Silence = readonly [foregroundAt: number, backgroundAt: number];

const silentAt = (now: number, share: number): Silence => [
  now + silentMs + share * silentSpreadMs,
  now + (1 + share) * backgroundMs,
];
