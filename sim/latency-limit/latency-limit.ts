import type { Clock, Transport } from '../../src/index.ts';

/** Which limit of the headers an experiment gives to reads. */
export interface LatencyLimitOptions {
  /** The limit is at least so long, in milliseconds. */
  readonly leastMs: number;
  /** Every attempt of a query has the limit, or only its first one. */
  readonly attempts: 'all' | 'first';
}

/** What the limits of one tab stand on. */
export interface LatencyLimit {
  /** Learns how long answers take. */
  readonly fetch: Transport;
  /** How long a read waits for its headers; undefined: as the policy says. */
  readonly timeoutOf: (url: string, attempt: number) => number | undefined;
}

/** So many answers make the latency of an endpoint known. */
const leastSamples = 3;
const mostSamples = 100;
const factor = 3;

/** The first segment of the path. */
const endpointOf = (url: string): string => url.split('/')[3] ?? '';

/** Makes the limit of a tab: 3 × p99 of the latest answers of an endpoint, at least `leastMs`, at most the policy's. */
export function createLatencyLimit(
  clock: Clock,
  fetch: Transport,
  policyMs: number,
  { leastMs, attempts }: LatencyLimitOptions,
): LatencyLimit {
  const known = new Map<string, number[]>();
  return {
    async fetch(input, init) {
      const endpoint = endpointOf(input instanceof Request ? input.url : (input as string));
      const sentAt = clock.now();
      const response = await fetch(input, init);
      const samples = known.get(endpoint) ?? [];
      known.set(endpoint, samples);
      if (response.ok) samples.push(clock.now() - sentAt);
      if (samples.length > mostSamples) samples.shift();
      return response;
    },
    timeoutOf(url, attempt) {
      const samples = known.get(endpointOf(url)) ?? [];
      if (samples.length < leastSamples || (attempts === 'first' && attempt > 1)) return undefined;
      const sorted = samples.toSorted((a, b) => a - b);
      const p99Ms = sorted[Math.floor(0.99 * sorted.length)] ?? policyMs;
      return Math.min(policyMs, Math.max(leastMs, factor * p99Ms));
    },
  };
}
