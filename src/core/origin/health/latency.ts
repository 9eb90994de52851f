import { keepLast } from '../../lib/store.ts';

/** A latency up to this is never slow. */
const floorMs = 300;
/** A latency above this multiple of the usual one is slow. */
const usualFactor = 2;
/** Without a usual latency, a higher one than this is slow. */
const strangerMs = 1000;
/** EWMA weight of a new sample. */
const weight = 0.1;
/** A sample is capped at this multiple of the usual latency, because outages often begin with slow answers. */
const mostFactor = 4;
const maxEndpoints = 100;
/** After this many more slow answers than fast ones, the slow latency becomes the usual one. */
const maxDisagreeing = 10;

/** Learns how long answers take without an outage, so that slow is relative to the endpoint. */
export class Latency {
  /** By endpoint. Only endpoints with a sample above the floor. */
  readonly usual: Map<string, number> = new Map();
  #disagreeing = 0;
  #isKnown = false;

  /** Adds a sample. Call it only outside of outages. */
  learn(endpoint: string, latencyMs: number): void {
    const { usual } = this;
    this.#isKnown = true;
    // An endpoint that is always fast needs no entry.
    if (latencyMs <= floorMs && !usual.has(endpoint)) return;
    const known = usual.get(endpoint) ?? latencyMs;
    const bounded = Math.min(latencyMs, mostFactor * Math.max(known, floorMs));
    usual.set(endpoint, known + weight * (bounded - known));
    keepLast(usual, maxEndpoints);
  }

  /** Whether a latency is usual. Without any sample of the origin, every one is. */
  isFast(endpoint: string, latencyMs: number): boolean {
    if (!this.#isKnown) return true;
    const known = this.usual.get(endpoint);
    const mostMs = Math.max(floorMs, known === undefined ? strangerMs : usualFactor * known);
    const isUsual = latencyMs <= mostMs;
    this.#disagreeing = Math.max(0, this.#disagreeing + (isUsual ? -1 : 1));
    if (this.#disagreeing < maxDisagreeing) return isUsual;
    this.forget();
    this.usual.set(endpoint, latencyMs);
    return true;
  }

  /** Forgets all samples, because the network has changed. */
  forget(): void {
    this.#isKnown = false;
    this.usual.clear();
    this.#disagreeing = 0;
  }
}
