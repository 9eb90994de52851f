/** What is normal for an endpoint, so that slow means slow for it. */
export interface Latency {
  /** An answer came while all was well. */
  readonly learn: (endpoint: string, latencyMs: number) => void;
  /** Whether an answer came about as fast as usual. */
  readonly isFast: (endpoint: string, latencyMs: number) => boolean;
}

/** Slow is more than this many times the usual, and never less than the floor. */
const slowFactor = 4;
const floorMs = 300;
const memory = 0.9;
const maxEndpoints = 100;

export function createLatency(): Latency {
  const usual = new Map<string, number>();
  return {
    learn(endpoint, latencyMs) {
      // Below the floor nothing is slow: an origin that is always fast costs nothing here.
      if (latencyMs <= floorMs && usual.size === 0) return;
      const known = usual.get(endpoint) ?? latencyMs;
      // Ids in paths must not fill the memory.
      if (usual.size >= maxEndpoints && !usual.has(endpoint)) usual.clear();
      usual.set(endpoint, known * memory + latencyMs * (1 - memory));
    },
    isFast: (endpoint, latencyMs) =>
      latencyMs <= Math.max(floorMs, slowFactor * (usual.get(endpoint) ?? 0)),
  };
}
