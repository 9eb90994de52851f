/** How long the answers of an origin take when all is well, so that slow means slow for it. */
export interface Latency {
  /** An answer came while all was well. */
  readonly learn: (endpoint: string, latencyMs: number) => void;
  /** An answer came after an outage: all that is known of what was never asked before. */
  readonly note: (endpoint: string, latencyMs: number) => void;
  /** Whether an answer came about as fast as usual; `isLong`: the origin has been back for long. */
  readonly isFast: (endpoint: string, latencyMs: number, isLong: boolean) => boolean;
}

/** Never slow. */
const floorMs = 300;
/** Slow is more than this many times the usual. */
const usualFactor = 2;
/** Of each new answer in the usual. */
const weight = 0.1;
/** One answer counts for so many times the usual at most: an outage often begins with slow ones. */
const mostFactor = 4;
const maxEndpoints = 100;
/**
 * A page that was opened in an outage knows no usual. There the quickest answer so far tells an API
 * that is slow by nature from one that has too much to do: it has waited least. An origin that is
 * overrun may have given no quick one yet, so more than a second is slow at first in any case.
 */
const quickestFactor = 4;
const strangerMs = 1000;

export function createLatency(): Latency {
  const endpoints = new Map<string, number>();
  /** The same by method, for endpoints that are not known: a write takes longer than a read. */
  const methods = new Map<string, number>();
  const quickest = new Map<string, number>();

  return {
    learn(endpoint, latencyMs) {
      const method = methodOf(endpoint);
      const usual = methods.get(method) ?? latencyMs;
      const atMost = bounded(usual, latencyMs);
      methods.set(method, average(usual, atMost));
      // Below the floor nothing is slow: an origin that is always fast costs nothing here.
      if (latencyMs <= floorMs && endpoints.size === 0) return;
      // Ids in paths must not fill the memory.
      if (endpoints.size >= maxEndpoints && !endpoints.has(endpoint)) endpoints.clear();
      const own = endpoints.get(endpoint);
      endpoints.set(endpoint, own ? average(own, bounded(own, latencyMs)) : atMost);
    },
    note(endpoint, latencyMs) {
      const method = methodOf(endpoint);
      quickest.set(method, Math.min(quickest.get(method) ?? Infinity, latencyMs));
    },
    isFast(endpoint, latencyMs, isLong) {
      const method = methodOf(endpoint);
      const usual = endpoints.get(endpoint) ?? methods.get(method);
      const stranger = quickestFactor * (quickest.get(method) ?? 0);
      const limitMs =
        usual === undefined
          ? Math.min(stranger, isLong ? Infinity : strangerMs)
          : usualFactor * usual;
      return latencyMs <= Math.max(floorMs, limitMs);
    },
  };
}

const average = (usual: number, latencyMs: number): number => usual + weight * (latencyMs - usual);

const bounded = (usual: number, latencyMs: number): number =>
  Math.min(Math.max(0, latencyMs), mostFactor * Math.max(usual, floorMs));

const methodOf = (endpoint: string): string => endpoint.slice(0, endpoint.indexOf(' '));
