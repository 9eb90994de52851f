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
/** After so many more slow answers than fast ones, slow is the usual. */
const maxDisagreeing = 10;

/** How long answers take when all is well, so that slow means slow for this endpoint. */
export class Latency {
  /** By endpoint: of those that are slow now and then. */
  readonly usual: Map<string, number> = new Map();
  #disagreeing = 0;
  #isKnown = false;

  /** An answer came while all was well. */
  learn(endpoint: string, latencyMs: number): void {
    const { usual } = this;
    this.#isKnown = true;
    // Below the floor nothing is slow: an origin that is always fast costs nothing here.
    if (latencyMs <= floorMs && !usual.has(endpoint)) return;
    if (usual.size >= maxEndpoints && !usual.has(endpoint)) usual.clear();
    const known = usual.get(endpoint) ?? latencyMs;
    const bounded = Math.min(latencyMs, mostFactor * Math.max(known, floorMs));
    usual.set(endpoint, known + weight * (bounded - known));
  }

  /** Whether an answer came about as fast as usual; so does each where nothing is known of the origin. */
  isFast(endpoint: string, latencyMs: number): boolean {
    if (!this.#isKnown) return true;
    const known = this.usual.get(endpoint);
    const mostMs = Math.max(floorMs, known === undefined ? strangerMs : usualFactor * known);
    this.#disagreeing = Math.max(0, this.#disagreeing + (latencyMs <= mostMs ? -1 : 1));
    if (this.#disagreeing < maxDisagreeing) return latencyMs <= mostMs;
    this.forget();
    this.usual.set(endpoint, latencyMs);
    return true;
  }

  /** The network has changed: what was usual is not known any more. */
  forget(): void {
    this.#isKnown = false;
    this.usual.clear();
    this.#disagreeing = 0;
  }
}
