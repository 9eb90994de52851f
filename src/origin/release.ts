import type { Clock, Random } from '../policy/clock.ts';
import { between } from './between.ts';
import { createPace, type Pace } from './pace.ts';

/** Lets what was held go again, one after the other, at the pace that the answers allow. */
export interface Release {
  readonly pace: Pace;
  readonly isUnderWay: () => boolean;
  /** What is let go was held for its origin, which is not yet seen to be well. */
  readonly isRecovery: () => boolean;
  /** It has gone on for so long that what is slow now will hardly be quicker. */
  readonly isLong: () => boolean;
  /** An origin that was down, or has asked for a pause, is given what was held for so long. */
  readonly recover: (
    heldCount: number,
    heldForMs: number,
    usualFailureRate: number,
    firstGap: number,
  ) => void;
  /** What was held for the device or the tab goes, ten in a second: the origin has been well. */
  readonly spread: (firstGap: number) => void;
  readonly stop: () => void;
  /** When the next one may go, in epoch milliseconds. */
  readonly nextAt: () => number;
  /** One has gone. */
  readonly advance: () => void;
  /** Whether one that comes together with many others may go at once: the first, if nobody waits. */
  readonly admits: (waiting: number) => boolean;
}

/** Those that are resumed so long after the last one are others. */
const spreadPauseMs = 1000;
/** What an overrun server needs to catch up, and more. */
const longMs = 120_000;

export function createRelease(clock: Clock, random: Random): Release {
  const pace = createPace();
  let isUnderWay = false;
  let isSpread = false;
  let begunAt = 0;
  /** When the last one went, and how many gaps of the pace the next one waits. */
  let releasedAt = 0;
  let gaps = 0;

  const begin = (firstGap: number): void => {
    releasedAt = clock.now();
    gaps = firstGap;
  };
  const startSpread = (firstGap: number): void => {
    isSpread = true;
    pace.start(10, 1000, 1);
    begin(firstGap);
  };
  const nextAt = (): number => {
    // A clock that was set back would prolong it.
    releasedAt = Math.min(releasedAt, clock.now());
    return releasedAt + gaps * pace.gapMs();
  };
  const advance = (): void => begin(between(random, 0.5, 1.5));

  return {
    pace,
    isUnderWay: () => isUnderWay,
    isRecovery: () => isUnderWay && !isSpread,
    isLong: () => clock.now() - begunAt > longMs,
    recover(heldCount, heldForMs, usualFailureRate, firstGap) {
      isUnderWay = heldCount > 0;
      isSpread = false;
      begunAt = clock.now();
      pace.start(heldCount, heldForMs, usualFailureRate);
      begin(firstGap);
    },
    spread(firstGap) {
      isUnderWay = true;
      startSpread(firstGap);
    },
    stop() {
      isUnderWay = false;
    },
    nextAt,
    advance,
    admits(waiting) {
      const isFirst = !isUnderWay && clock.now() - releasedAt > spreadPauseMs;
      isUnderWay = true;
      if (isFirst) startSpread(0);
      if (waiting > 0 || clock.now() < nextAt()) return false;
      advance();
      return true;
    },
  };
}
