import { type Api, describe, type Operation } from './api.ts';
import { leavesOf, readJson } from './body.ts';
import { isDone } from './dialects.ts';
import { CannotRun, type Finding, met, unknown, violated, times } from './finding.ts';
import type { Settings } from './settings.ts';
import type { Answer } from './wire.ts';

/** The effects that were counted while something was done; undefined where nothing counts. */
export interface Measured<T> {
  readonly result: T;
  readonly effects: number | undefined;
}

const countHint = 'name --count-url or a --module with countEffects';

/**
 * Tells from answers, and from a count if there is one, how often something was done. Answers tell it by the values in
 * which two different operations differ: an id, a number, a Location.
 */
export class Evidence {
  readonly #settings: Settings;
  /** Paths in the answer that differ between two operations with the same bytes. */
  #telling: ReadonlySet<string> = new Set();
  #isWholeText = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Whether answers differ from one operation to the next. */
  get canTell(): boolean {
    return this.#telling.size > 0 || this.#isWholeText;
  }

  get canCount(): boolean {
    return this.#settings.hooks.countEffects !== undefined;
  }

  /** Learns from the answers to two operations that have the same bytes. */
  learn(first: Answer, second: Answer): void {
    const [one, other] = [this.#values(first), this.#values(second)];
    if (one === undefined || other === undefined) {
      this.#isWholeText = first.text !== second.text;
      return;
    }
    const paths = [...one.keys()].filter((path) => one.get(path) !== other.get(path));
    this.#telling = new Set(paths);
  }

  /** The values in an answer by their path, its Location included; undefined where it is not JSON. */
  #values({ text, headers }: Answer): Map<string, unknown> | undefined {
    const json = readJson(text);
    const location = headers['location'];
    if (json === undefined && location === undefined) return undefined;
    const leaves = leavesOf(json).map(([path, leaf]): [string, unknown] => [path.join('.'), leaf]);
    const located: [string, unknown][] = location === undefined ? [] : [['Location', location]];
    return new Map(
      [...leaves, ...located].filter(([path]) => !this.#settings.ignore.includes(path)),
    );
  }

  /** Whether two answers are of one operation, by what tells operations apart; where nothing does, by their content. */
  isSameOperation(one: Answer, other: Answer): boolean {
    const [values, others] = [this.#values(one), this.#values(other)];
    if (values === undefined || others === undefined || this.#telling.size === 0)
      return this.content(one) === this.content(other);
    // A value that one of them lacks, as a header that is not replayed, tells nothing.
    const common = [...this.#telling].filter((path) => values.has(path) && others.has(path));
    return common.length > 0 && common.every((path) => values.get(path) === others.get(path));
  }

  /** How many different operations these answers are of. */
  countOperations(answers: readonly Answer[]): number {
    const different: Answer[] = [];
    for (const answer of answers)
      if (!different.some((one) => this.isSameOperation(one, answer))) different.push(answer);
    return different.length;
  }

  /** The body without what is to be ignored. */
  content(answer: Answer): string {
    if (this.#settings.ignore.length === 0) return answer.text;
    const values = this.#values(answer);
    return values
      ? JSON.stringify([...values].filter(([path]) => path !== 'Location'))
      : answer.text;
  }

  /** Counts the effects of what is done meanwhile. */
  async measure<T>(work: () => Promise<T>): Promise<Measured<T>> {
    const before = await this.count();
    const result = await work();
    const after = await this.count();
    const effects = before === undefined || after === undefined ? undefined : after - before;
    return { result, effects };
  }

  async count(): Promise<number | undefined> {
    const { countEffects } = this.#settings.hooks;
    if (!countEffects) return undefined;
    const count: unknown = await countEffects();
    if (typeof count === 'number' && Number.isFinite(count)) return count;
    throw new CannotRun(`The count of effects is ${String(count)}, and must be a number.`);
  }

  /** Whether something was done as often as it should be. `unseen` answers were lost. */
  ranTimes(
    wanted: number,
    { result, effects }: Measured<readonly Answer[]>,
    { unseen = 0 }: { readonly unseen?: number } = {},
  ): Finding {
    const done = result.filter((answer) => isDone(this.#settings.declared, answer));
    const seen = this.countOperations(done);
    const shown = done.map(describe).join(' | ');
    if (this.canTell && seen > wanted)
      return violated(`done ${times(seen)}, by the answers: ${shown}`);
    if (effects !== undefined) {
      return effects === wanted
        ? met
        : violated(
            `done ${times(effects)}, by the count; the answers: ${shown || 'none is a 2xx'}`,
          );
    }
    if (done.length === 0) return unknown(`no answer says that it was done; ${countHint}`);
    if (!this.canTell) return unknown(`the answers of two operations are alike; ${countHint}`);
    if (unseen > 0) return unknown(`the lost answers may have been others; ${countHint}`);
    return met;
  }

  /** Whether a request that was refused was not done. */
  notRun(effects: number | undefined, ...answers: readonly Answer[]): Finding {
    const done = answers.find((answer) => isDone(this.#settings.declared, answer));
    if (done) return violated(`it was done: ${describe(done)}`);
    if (effects === undefined)
      return unknown(`only a count shows what was not answered; ${countHint}`);
    return effects === 0 ? met : violated(`refused, and done ${times(effects)}, by the count`);
  }
}

/** Finds out whether the API can be checked at all, and what its answers tell. */
export async function calibrate(api: Api, evidence: Evidence, settings: Settings): Promise<void> {
  const first = api.operation();
  const answer = await api.send(first);
  if (!isDone(settings.declared, answer)) throw new CannotRun(explain(answer, settings));
  const again: Operation = { ...first, key: api.newKey() };
  const second = await api.send(again);
  if (isDone(settings.declared, second)) evidence.learn(answer, second);
  else {
    // Where a value must be unique, two operations cannot have the same bytes.
    const third = await api.send(api.operation());
    if (!isDone(settings.declared, third))
      throw new CannotRun(
        `A second request, with another key, is answered ${describe(third)}. If a value must differ from one ` +
          'request to the next, write {{unique}} for it in --body.',
      );
    evidence.learn(answer, third);
  }
  await api.findOtherText();
}

/** Why a first request may have been refused, and the option that helps. */
function explain(answer: Answer, { url, declared }: Settings): string {
  const { status, failure } = answer;
  if (failure !== undefined)
    return `${url.href} does not answer (${failure}). Does the server run?`;
  const { header, format = 'structured' } = declared.profile as {
    header?: string;
    format?: string;
  };
  const quoted = header !== undefined && format === 'structured';
  const remedies: readonly (readonly [statuses: readonly number[], remedy: string])[] = [
    [[301, 302, 303, 307, 308], `Redirects are not followed: name the address that it points to.`],
    [[401, 403], 'Credentials are given with --header "Authorization: …".'],
    [[404, 405], 'Are the path and --method right?'],
    [[415], 'The type of the body is given with --header "Content-Type: …".'],
    [
      [400],
      `Give a body that your API accepts with --body.${quoted ? ' If it takes keys without quotes, say --format raw.' : ''}`,
    ],
  ];
  const [, remedy] = remedies.find(([statuses]) => statuses.includes(status)) ?? [];
  return (
    `The first request, with a new key, is answered ${describe(answer)}. It must be done. ` +
    (remedy ?? 'Give a body that your API accepts with --body.')
  );
}
