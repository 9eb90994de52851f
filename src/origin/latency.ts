/** How long answers take when all is well, so that slow means slow for this endpoint. */
export interface Latency {
  /** An answer came while all was well. */
  readonly learn: (endpoint: string, latencyMs: number) => void;
  /** Whether an answer came about as fast as usual. */
  readonly isFast: (endpoint: string, latencyMs: number) => boolean;
  /** Answers have come while all was well: what is slow now is not so by nature. */
  readonly isKnown: () => boolean;
  /** The network has changed: what was usual is not known any more. */
  readonly forget: () => void;
}

/** Never slow. */
const floorMs = 300;
/** Slow is more than this many times the usual. */
const usualFactor = 2;
/** More than this is slow where no usual is known. */
const strangerMs = 1000;
/** EWMA weight of a new answer. */
const weight = 0.1;
/** One answer counts for so many times the usual at most: an outage often begins with slow ones. */
const mostFactor = 4;
const maxEndpoints = 100;
/** After so many slow answers in a row, they are the usual. */
const maxDisagreeing = 10;

export function createLatency(): Latency {
  const usual = new Map<string, number>();
  let disagreeing = 0;
  let isKnown = false;

  const forget = (): void => {
    isKnown = false;
    usual.clear();
    disagreeing = 0;
  };
  const isWithin = (endpoint: string, latencyMs: number): boolean => {
    const known = usual.get(endpoint);
    return latencyMs <= Math.max(floorMs, known === undefined ? strangerMs : usualFactor * known);
  };
  return {
    learn(endpoint, latencyMs) {
      isKnown = true;
      // Below the floor nothing is slow: an origin that is always fast costs nothing here.
      if (latencyMs <= floorMs && !usual.has(endpoint)) return;
      if (usual.size >= maxEndpoints && !usual.has(endpoint)) usual.clear();
      const known = usual.get(endpoint) ?? latencyMs;
      const bounded = Math.min(Math.max(0, latencyMs), mostFactor * Math.max(known, floorMs));
      usual.set(endpoint, known + weight * (bounded - known));
    },
    isFast(endpoint, latencyMs) {
      const isFast = isWithin(endpoint, latencyMs);
      disagreeing = isFast ? 0 : disagreeing + 1;
      if (disagreeing < maxDisagreeing) return isFast;
      forget();
      usual.set(endpoint, latencyMs);
      return true;
    },
    isKnown: () => isKnown,
    forget,
  };
}
