/** The number of URLs whose failures are remembered. */
const maxUrls = 1000;

/** Who answered last, when that request was sent, and when the latest that another one answered was. */
export class LastAnswer {
  #of = '';
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

  /** Records a failure of a request sent at `sentAt`. @returns since when the URL fails: the sending of its first failure. */
  record(url: string, sentAt: number): number {
    const all = this.#byUrl;
    const { failures = 0, since = sentAt } = all.get(url) ?? {};
    all.delete(url);
    all.set(url, { failures: failures + 1, since: Math.min(since, sentAt) });
    if (all.size > maxUrls) for (const oldest of all.keys()) if (all.delete(oldest)) break;
    return Math.min(since, sentAt);
  }

  answered(url: string): void {
    this.#byUrl.delete(url);
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
