import { type Clock, type Random, between } from '../lib/clock.ts';

/** When something that is down is probed. */
export interface ProbeSchedule {
  /**
   * An outage begins. Soon after another one, it goes on where that one ended. `isEarly`: a fast retry has found
   * it, at a time when a usual one would still be waited for.
   */
  readonly begin: (isEarly: boolean) => void;
  /** When the next probe may go. `expiresAt`: when the first wait of a user ends; a last probe goes shortly before. */
  readonly nextAt: (isForeground: boolean, expiresAt: number) => number;
  /** What was shown as the time of the next probe; `Infinity` where nothing was. */
  readonly promisedAt: () => number;
  /** The next one comes no later. */
  readonly promise: (at: number) => void;
  /** A probe is under way, and its answer is still waited for. */
  readonly isProbing: () => boolean;
  /** When the last one began. */
  readonly startedAt: () => number;
  /**
   * A probe goes. @returns what is to be called when it has failed, or was called off and showed nothing;
   * `isUnused`: nothing was sent, so that the next one goes at once.
   */
  readonly start: () => (hasFailed: boolean, isUnused?: boolean) => void;
  /** It is up again. */
  readonly close: () => void;
}

/** While a user waits, from the start of one probe to that of the next: a share of the outage so far. */
const outageShare = 0.5;
const shortestGapMs = 1200;
const longestGapMs = 12_000;
/** From a fast retry to the first probe, so that a short outage ends no later than without the fast retry. */
const earlyGap = [400, 1200] as const;
/** While nobody does, from the end of one probe to the next: at least, and at most. */
const backgroundGaps: readonly (readonly [number, number])[] = [
  [5000, 10_000],
  [10_000, 20_000],
  [15_000, 30_000],
];
const lastBackgroundGap = [20_000, 40_000] as const;
/** A probe that has no answer after this time is not waited for any longer: the next one may go. */
const longestProbeMs = 15_000;
/** An outage that begins so soon after another one is the same. */
const sameMs = 10_000;
/** The last probe before a wait ends. More of them keep a server down that is back: some wait always ends. */
export const lastChanceMs = 3000;
/** There is none where a probe has gone so shortly before the end. */
const lastChanceAfterMs = 8000;
/** The next one after a probe that showed nothing. */
const leastGapMs = 2000;

export function createProbeSchedule(clock: Clock, random: Random): ProbeSchedule {
  let count = 0;
  let beganAt = 0;
  let isOut = false;
  let latest: object | undefined;
  let startedAt = -Infinity;
  let closedAt = -Infinity;
  let foregroundAt = 0;
  let backgroundAt = 0;
  let promisedAt = Infinity;

  const isProbing = (): boolean => isOut && clock.now() - startedAt < longestProbeMs;
  const plan = (fromMs: number): void => {
    const now = clock.now();
    const gapMs = Math.min(longestGapMs, Math.max(shortestGapMs, outageShare * (now - beganAt)));
    foregroundAt = Math.max(now, fromMs + gapMs * between(random, 0.75, 1.25));
    backgroundAt = now + between(random, ...(backgroundGaps[count] ?? lastBackgroundGap));
    promisedAt = Infinity;
    count++;
  };
  return {
    begin(isEarly) {
      const now = clock.now();
      if (now - closedAt > sameMs) {
        count = 0;
        beganAt = now;
      }
      isOut = false;
      latest = undefined;
      startedAt = now;
      plan(now);
      if (isEarly) foregroundAt = now + between(random, ...earlyGap);
    },
    nextAt(isForeground, expiresAt) {
      const isLate = startedAt > expiresAt - lastChanceAfterMs;
      const lastChanceAt = isLate ? Infinity : expiresAt - lastChanceMs;
      const at = isForeground ? Math.min(foregroundAt, lastChanceAt) : backgroundAt;
      promisedAt = Math.min(promisedAt, at);
      if (!isProbing()) return promisedAt;
      return Math.min(startedAt + longestProbeMs, isForeground ? lastChanceAt : Infinity);
    },
    promisedAt: () => (isOut ? Infinity : promisedAt),
    promise(at) {
      promisedAt = Math.min(promisedAt, at);
    },
    isProbing,
    startedAt: () => startedAt,
    start() {
      const own = (latest = {});
      isOut = true;
      startedAt = clock.now();
      promisedAt = Infinity;
      return (hasFailed, isUnused) => {
        // What is shown is by a later one, or by another outage.
        if (latest !== own) return;
        isOut = false;
        // What was due, and shown as due, before this one is over.
        if (isUnused) promisedAt = clock.now();
        else plan(startedAt);
        if (!hasFailed) foregroundAt = Math.max(clock.now(), startedAt + leastGapMs);
      };
    },
    close() {
      isOut = false;
      closedAt = clock.now();
    },
  };
}
