import { inDevelopment } from '../../core/lib/development.ts';
import { checkNames, requireWhole } from '../../core/lib/input/check.ts';
import { checkMade, code, codeOf, type MadeBy } from '../../core/lib/input/made-by.ts';
import type { Forget } from '../clear.ts';
import type { Codec } from '../codec.ts';
import type { OutboxParts } from '../delivery/engine.ts';
import type { EntryLinks } from '../delivery/page.ts';
import { type HandlerDefinition, scopeOf } from '../handler.ts';
import { rowByKey } from '../store/linked.ts';
import type { Row, Unplaced } from '../store/row.ts';
import type { Backend } from '../store/schema.ts';
import { fill, keysIn } from './answer-of.ts';
import { linkRows } from './row-links.ts';

/** The options of `outboxLinks`. */
export interface OutboxLinksOptions {
  /** An answer is known for so long after the delivery, and as long as an entry waits that refers to it. @default 86_400_000 (a day) */
  readonly keepAnswersMs?: number | undefined;
  /** How many of the latest answers are known, besides those that an entry waits for. @default 1000 */
  readonly maxAnswers?: number | undefined;
  /** Merges entries whose handlers have `coalesce`: `coalesceUnsent()`. @default none */
  readonly coalesce?: MadeBy<'coalesceUnsent'> | undefined;
}

export interface CoalesceCode {
  readonly by: 'coalesceUnsent';
  /** Makes an entry one with the one before it that changes the same, where surely nothing of that was sent. */
  readonly merge: (entry: Unplaced, parts: OutboxParts, forget: Forget) => Promise<Row | undefined>;
}

/** The code of `outboxLinks`: entries that refer to the answers of others. */
export interface LinksCode extends EntryLinks, Partial<Pick<CoalesceCode, 'merge'>> {
  readonly by: 'outboxLinks';
}

/**
 * Lets an entry of the outbox refer to the answer of another one that is not delivered yet: see `answerOf`. A value for
 * the option `links` of `createOutbox`; the same in `deliverOnSync`. With `coalesce: coalesceUnsent()`, several changes of
 * one thing are merged where their handlers say how.
 *
 * @throws TypeError in development, when an option is not as it must be.
 *
 * @example
 * ```ts
 * const outbox = createOutbox({ steady, queryClient, handlers, links: outboxLinks() });
 * ```
 */
export function outboxLinks(options: OutboxLinksOptions = {}): MadeBy<'outboxLinks'> {
  const { keepAnswersMs = 86_400_000, maxAnswers = 1000, coalesce } = options;
  inDevelopment(() => {
    const range = { min: 0, max: Number.MAX_SAFE_INTEGER };
    requireWhole('outboxLinks', 'keepAnswersMs', keepAnswersMs, range);
    requireWhole('outboxLinks', 'maxAnswers', maxAnswers, range);
    checkNames('outboxLinks', options, ['keepAnswersMs', 'maxAnswers', 'coalesce']);
  });
  const made: LinksCode = {
    ...codeOf<CoalesceCode>(checkMade('outboxLinks', 'coalesce', coalesce, 'coalesceUnsent')),
    by: 'outboxLinks',
    rows: linkRows(keepAnswersMs, maxAnswers),
    begin,
    fill: async (variables, { parents = [] }, codec, read) =>
      fill(variables, await answersOf(parents, codec, read, true)),
    refresh,
  };
  return { [code]: made };
}

export function begin(
  { handler }: HandlerDefinition,
  variables: unknown,
): Pick<Row, 'parents' | 'thing'> {
  const parents = keysIn(variables);
  const thing = handler.coalesce?.by(variables);
  return { ...(parents[0] !== undefined && { parents }), ...(thing !== undefined && { thing }) };
}

/** The answers of those of these entries that are delivered. Rejects where one cannot be read, and `areAll` is asked for. */
async function answersOf(
  keys: readonly string[],
  codec: Codec,
  read: Backend['read'],
  areAll: boolean,
): Promise<ReadonlyMap<string, unknown>> {
  const rows = await read((tx) => Promise.all(keys.map((key) => rowByKey(tx, key))));
  const answers = new Map<string, unknown>();
  for (const [at, row] of rows.entries())
    if (row?.state === 'done') answers.set(keys[at] ?? '', await codec.decode(row.result));
    else if (areAll) answers.set(keys[at] ?? '', undefined);
  return answers;
}

const refresh: EntryLinks['refresh'] = async (entry, { codec, handlers }, read) => {
  const { parents, handler, variables: sealed } = entry;
  const definition = handlers.get(handler);
  if (!parents || !definition) return entry;
  try {
    const answers = await answersOf(parents, codec, read, false);
    if (answers.size === 0) return entry;
    const variables = fill(await codec.decode(structuredClone(sealed)), answers);
    const left = parents.filter((key) => !answers.has(key));
    const scope = scopeOf('outbox', definition, variables);
    const blocks = entry.blocks === undefined ? undefined : scope;
    const { thing } = begin(definition, variables);
    const own = { variables: await codec.encode('outbox', variables), thing, scope, blocks };
    return { ...entry, ...own, parents: left[0] === undefined ? undefined : left };
  } catch {
    // The entry stays as it is, and its end says why.
    return entry;
  }
};
