/** How much a user wants an operation: since when, and whether they have pressed for it. */
export class Urgency {
  #askedAt: number;
  #isUrged: boolean;

  constructor(askedAt: number, isUrged: boolean) {
    this.#askedAt = askedAt;
    this.#isUrged = isUrged;
  }

  /** When the user asked for it last, in epoch milliseconds: of what waits, the oldest goes first. */
  get askedAt(): number {
    return this.#askedAt;
  }
  /** A user has pressed for its next request: that goes whatever is known of its origin. */
  get isUrged(): boolean {
    return this.#isUrged;
  }

  /** It was asked for again. */
  renew(nowMs: number): void {
    this.#askedAt = nowMs;
  }

  /** A user presses for its next request, or that of the operation that takes its place. */
  urge(): void {
    this.#isUrged = true;
  }

  /** That request goes, or is over. @returns whether a user has pressed for it. */
  take(): boolean {
    const isUrged = this.#isUrged;
    this.#isUrged = false;
    return isUrged;
  }
}
