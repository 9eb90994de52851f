import type { Random } from '../policy/clock.ts';
import { between } from './between.ts';
import type { Demand } from './demand.ts';

/** How long a tab leaves a server alone, before a canary goes out by itself. */
export interface CanaryGaps {
  /** An outage begins; soon after another one it goes on where that one has ended. */
  readonly begin: (now: number) => void;
  /** When the next canary goes out by itself. Someone may be waiting: soon at first, then ever later. */
  readonly nextAt: (now: number, weight: number) => number;
  /** Another tab has sent the next one. */
  readonly skip: () => void;
}

type Gap = readonly [number, number];

/** From one canary that goes out by itself to the next, in milliseconds. */
const gaps: readonly Gap[] = [
  [5000, 10_000],
  [10_000, 20_000],
  [15_000, 30_000],
];
const lastGap: Gap = [20_000, 40_000];

/** An outage that begins so soon after another one is the same. */
const sameMs = 60_000;

/** A tab with fewer asks in a minute asks rarely. */
const busyCount = 3;
const frugalMs = 1_200_000;
/** What such a tab has in this time: sooner than others, because nothing new of it comes before. */
const allowance: readonly Gap[] = [
  [4000, 7000],
  [8000, 16_000],
];

export function createCanaryGaps(random: Random, demand: Demand): CanaryGaps {
  let begunAt = -Infinity;
  /** How many canaries have been timed in this outage, and what a rare asker has had of its allowance. */
  let timed = 0;
  let firstSpentAt = -Infinity;
  let spent = 0;

  /**
   * There are many tabs that ask rarely, and what each of them asks for by itself keeps a server
   * down: so such a tab has two quick canaries in twenty minutes. Where the answer came too late,
   * which has cost the server its work, it has one, and only every other such tab has it: with a
   * second request of each, a server at 85 % of its capacity does not come back. Beyond, it waits
   * for several times as long as it leaves between two requests of its own.
   */
  const frugalGap = (now: number, weight: number): number => {
    if (now - firstSpentAt > frugalMs) {
      firstSpentAt = now;
      spent = 0;
    }
    const quick = allowance[spent];
    spent += weight;
    const hasIt = quick && (weight === 1 || random() <= 0.5);
    if (hasIt) return between(random, ...quick);
    // Of a tab that has asked for nothing in an hour it would be ages.
    return Math.min(frugalMs, between(random, 4, 8) / demand.rate(now));
  };

  return {
    begin(now) {
      if (now - begunAt > sameMs) timed = 0;
      begunAt = now;
    },
    nextAt: (now, weight) =>
      now +
      (demand.count(now) < busyCount
        ? frugalGap(now, weight)
        : between(random, ...(gaps[timed++] ?? lastGap))),
    skip() {
      timed++;
    },
  };
}
