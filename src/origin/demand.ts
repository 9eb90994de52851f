/** How often a tab asks something of an origin, of late. */
export interface Demand {
  readonly add: (now: number) => void;
  /** Asks of late. */
  readonly count: (now: number) => number;
  /** Asks per millisecond. */
  readonly rate: (now: number) => number;
}

/** A count that decays, so that one number is enough, whatever the number of calls. */
export function createDemand(memoryMs: number): Demand {
  let count = 0;
  let countedAt = 0;
  const decay = (now: number): void => {
    count *= Math.exp(Math.min(0, countedAt - now) / memoryMs);
    countedAt = now;
  };
  return {
    add(now) {
      decay(now);
      count++;
    },
    count(now) {
      decay(now);
      return count;
    },
    rate(now) {
      decay(now);
      return count / memoryMs;
    },
  };
}
