/** How many scopes that are refused within this time share one limit, at least. */
const leastTogether = 3;
const togetherMs = 1000;
/** A scope that was refused goes behind the others that share its limit, until so many answers have come. */
const turnsOfOthers = 10;
/** One that is refused again after that, and this often, has a limit of its own. */
const mostInRow = 2;
/** Refusals are forgotten after this time. */
const forgetMs = 60_000;

/** The refusals of a scope since its last answer. */
interface Refused {
  readonly at: number;
  /** The number of answers before the last refusal. */
  readonly answers: number;
  /** How often it was refused after the turns of others. */
  readonly inRow: number;
}

/**
 * Finds out which scopes share a limit, by the refusals that name no time. A scope that was never refused shares none,
 * so it is never held back for others.
 */
export class RefusedTogether {
  readonly #refused: Map<string, Refused> = new Map();
  /** The number of answers to all scopes that share a limit. */
  #answers = 0;

  /**
   * Records a refusal of a request sent at `sentAt`. @returns the scopes that were refused together with it; none if
   * they are too few to share a limit, undefined if it has one of its own.
   */
  refuse(scope: string, sentAt: number, now: number): readonly string[] | undefined {
    const all = this.#refused;
    const before = all.get(scope);
    const isAgain = !!before && sentAt >= before.at && this.behindFrom(scope) === -Infinity;
    const inRow = (before?.inRow ?? 0) + (isAgain ? 1 : 0);
    all.set(scope, { at: now, answers: this.#answers, inRow });
    const together: string[] = [];
    for (const [one, last] of all) {
      if (now - last.at >= forgetMs) all.delete(one);
      else if (now - last.at < togetherMs && last.inRow < mostInRow) together.push(one);
    }
    if (inRow >= mostInRow) return undefined;
    return together.length < leastTogether ? [] : together;
  }

  /** Records an answer to a scope that shares a limit. */
  accept(scope: string): void {
    this.#answers++;
    this.forget(scope);
  }

  /** Forgets the refusals of a scope: it was answered, or its server names a time for it. */
  forget(scope: string): void {
    this.#refused.delete(scope);
  }

  /** When it was refused, if what was requested before that goes first; otherwise `-Infinity`. */
  behindFrom(scope: string): number {
    const refused = this.#refused.get(scope);
    return refused && this.#answers < refused.answers + turnsOfOthers ? refused.at : -Infinity;
  }
}
