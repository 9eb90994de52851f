import type { Clock } from '../lib/clock.ts';
import type { Down } from './probing.ts';
import type { Sign } from './sign.ts';
import type { Target } from './wait-queue.ts';

/** Leave to send one attempt, and the duty to say what became of it. */
export interface Permit {
  /** It is the one with which something that is down is tried. */
  readonly isProbe: boolean;
  /** It shows, for all who wait, how the origin is: a failure of it spends no retry. */
  readonly isTrial: boolean;
  /** Its headers are in, or it has failed: its place is free. What it showed may be said later. */
  readonly free: () => void;
  /** What it showed. */
  readonly settle: (sign: Sign, error?: unknown) => void;
}

/** What an attempt has shown. */
export interface Result {
  readonly endpoint: string;
  readonly sign: Sign;
  readonly sentAt: number;
  /** What it was the probe of. */
  readonly probed: Down | undefined;
  readonly error: unknown;
}

/** What is under way to one origin. */
export interface Permits {
  /** `isInTurn`: it is one of those that go one after the other once their origin is back. */
  readonly grant: (ask: Target, probed?: Down, isInTurn?: boolean) => Permit;
  readonly isPlaceFree: () => boolean;
  readonly size: () => number;
  /** How many of them are counted by one limit. */
  readonly countOf: (limitScope: string) => number;
}

/** Who is told of an attempt. */
interface Listeners {
  readonly sent: (ask: Target, probed: Down | undefined) => void;
  /** Its place is free before it is known what it has shown. */
  readonly freed: () => void;
  readonly settled: (result: Result) => void;
  /** One that went in its turn has its answer, or none. */
  readonly finished: () => void;
}

export function createPermits(clock: Clock, maxInFlight: number, on: Listeners): Permits {
  const inFlight = new Set<Target>();
  return {
    isPlaceFree: () => inFlight.size < maxInFlight,
    size: () => inFlight.size,
    countOf: (limitScope) => [...inFlight].filter((ask) => ask.limitScope === limitScope).length,
    grant(ask, probed, isInTurn = false) {
      const sentAt = clock.now();
      let isOver = false;
      const free = (): boolean => {
        if (!inFlight.delete(ask)) return false;
        if (isInTurn) on.finished();
        return true;
      };
      inFlight.add(ask);
      on.sent(ask, probed);
      return {
        isProbe: !!probed,
        isTrial: !!probed || isInTurn,
        free() {
          if (free()) on.freed();
        },
        settle(sign, error) {
          free();
          if (isOver) return;
          isOver = true;
          on.settled({ endpoint: ask.endpoint, sign, sentAt, probed, error });
        },
      };
    },
  };
}
