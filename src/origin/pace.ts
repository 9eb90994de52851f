import { createStore, type Readable } from './store.ts';

/** How fast what was held goes out again, as a share of the rate at which it was asked for. */
export interface Pace extends Readable<number> {
  /** A release begins. Where attempts fail now and then anyway, it was hardly an outage. */
  readonly start: (heldCount: number, heldForMs: number, usualFailureRate: number) => void;
  /** An answer came, as fast as usual or not; or none did. */
  readonly see: (isFast: boolean) => void;
  /** Whether answers have been as fast as usual so far. */
  readonly isGood: () => boolean;
  /** The time until the next one may go, in milliseconds. */
  readonly gapMs: () => number;
}

const first = 0.3;
const least = 0.05;
const most = 1;
const growth = 1.5;
const cut = 0.4;
/** What was held for long is not let go at a snail's pace: one in four seconds at full pace. */
const leastPerMs = 0.25 / 1000;

/**
 * Slow start with latency as the signal: failures come too late. It grows by half with each answer
 * that is as fast as usual, and falls to two fifths with each slow or failed one: a tab sees an
 * answer in several seconds, and all tabs together are past the server's capacity by then. It
 * still rises where three in ten answers are slow by chance.
 */
export function createPace(): Pace {
  const { getState, subscribe, set } = createStore(first);
  let askedPerMs = 0;
  return {
    getState,
    subscribe,
    start(heldCount, heldForMs, usualFailureRate) {
      askedPerMs = Math.max(leastPerMs, heldCount / Math.max(heldForMs, 1000));
      set(Math.min(most, Math.max(first, 5 * usualFailureRate)));
    },
    see: (isFast) => set(Math.min(most, Math.max(least, getState() * (isFast ? growth : cut)))),
    isGood: () => getState() >= most,
    gapMs: () => 1 / (getState() * askedPerMs),
  };
}
