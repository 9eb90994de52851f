import { keepLast } from '../../lib/store.ts';

/** The number of URLs whose failures are remembered. */
const maxUrls = 1000;
/** Where more URLs of an endpoint fail, none is broken by itself: their server refuses whatever is asked. */
const maxBroken = 5;

/** The one that answered last, when that request was sent, and when the latest request that another one answered was. */
export class LastAnswer {
  #of: string | undefined;
  #at = -Infinity;
  #elsewhereAt = -Infinity;

  record(of: string, at: number): void {
    if (of !== this.#of) this.#elsewhereAt = this.#at;
    this.#of = of;
    this.#at = Math.max(this.#at, at);
  }

  /** The time of the latest answer by another one. */
  elsewhereAt(of: string): number {
    return of === this.#of ? this.#elsewhereAt : this.#at;
  }
}

interface Failing {
  readonly endpoint: string;
  readonly failures: number;
  readonly since: number;
}

/**
 * The URLs that have failed since they were last answered. An endpoint is a name for many URLs: one broken id, or one
 * broken operation of a path, must not hold back those that have not failed.
 */
export class FailingUrls {
  /** The latest to fail at the end. */
  readonly #byUrl: Map<string, Failing> = new Map();
  /** The URLs that were answered, the latest at the end. */
  readonly #answered: Set<string> = new Set();

  /** Records a failure of a request sent at `sentAt`. */
  record(url: string, endpoint: string, sentAt: number): void {
    const { failures = 0, since = sentAt } = this.#byUrl.get(url) ?? {};
    this.#byUrl.delete(url);
    this.#byUrl.set(url, { endpoint, failures: failures + 1, since: Math.min(since, sentAt) });
    keepLast(this.#byUrl, maxUrls);
  }

  /** Records an answer. */
  recordAnswer(url: string): void {
    this.#byUrl.delete(url);
    this.#answered.delete(url);
    this.#answered.add(url);
    keepLast(this.#answered, maxUrls);
  }

  /** Whether it was ever answered. */
  wasAnswered(url: string): boolean {
    return this.#answered.has(url);
  }

  /** Whether few enough URLs of the endpoint fail for each to be broken by itself. */
  areFew(endpoint: string): boolean {
    let count = 0;
    for (const failing of this.#byUrl.values())
      if (failing.endpoint === endpoint && ++count > maxBroken) return false;
    return true;
  }

  /** How often it has failed since its last answer. */
  failures(url: string): number {
    return this.#byUrl.get(url)?.failures ?? 0;
  }

  /** When the first of these failures was sent; `Infinity` if there is none. */
  since(url: string): number {
    return this.#byUrl.get(url)?.since ?? Infinity;
  }

  clear(): void {
    this.#byUrl.clear();
  }
}
