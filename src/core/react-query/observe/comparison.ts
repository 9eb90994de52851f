import type { ObservedReport } from '../steadfetch.ts';

/** The two sides of a comparison. */
type Side = 'app' | 'if-on';

/** Compares what the app does with what it would do with Steadfetch switched on. */
export class Comparison {
  readonly #paused: Set<number> = new Set();
  #requestsSaved = 0;
  #queriesAnswered = 0;

  countRequest(side: Side): void {
    this.#requestsSaved += side === 'app' ? 1 : -1;
  }

  /** A fetch of a query has failed for good. */
  countFailure(side: Side): void {
    this.#queriesAnswered += side === 'app' ? 1 : -1;
  }

  countPause(operation: number): void {
    this.#paused.add(operation);
  }

  report(): ObservedReport {
    return {
      pauses: this.#paused.size,
      requestsSaved: this.#requestsSaved,
      queriesAnswered: this.#queriesAnswered,
    };
  }
}
