import { warn } from '../../lib/input/warn.ts';
import { requireWhole } from '../../lib/input/check.ts';
import type { Forget } from '../clear.ts';
import { type Codec, readVariables } from '../codec.ts';
import type { OutboxParts } from '../delivery/engine.ts';
import type { Kept } from '../enqueue.ts';
import { type HandlerDefinition, type OutboxCoalesce, scopeOf } from '../handler.ts';
import { keysOf, refersTo, type RowLinks } from '../store/linked.ts';
import { isInPage } from '../store/memory.ts';
import { type Row, stateless, type Unplaced } from '../store/row.ts';
import type { Settled } from '../store/row-store.ts';
import type { Backend, Transaction } from '../store/schema.ts';
import { place, unblock } from '../store/transitions.ts';
import { fill, keysIn } from './answer-of.ts';
import { isNeeded, linkRows, rowByKey, rowLinks } from './row-links.ts';

/** The options of `outboxLinks`. */
export interface OutboxLinksOptions {
  /** An answer is known for so long after the delivery, and as long as an entry waits that refers to it. @default 86_400_000 (a day) */
  readonly keepAnswersMs?: number | undefined;
  /** So many answers are known, the latest ones, and those that an entry waits for. @default 1000 */
  readonly maxAnswers?: number | undefined;
}

/** Two entries that were made one. */
interface Merged extends Settled {
  /** The first, as it was. */
  readonly earlier: Row;
  /** The one that is left, at the place of the first and with the key of the second. It is done where nothing is left to do. */
  readonly row: Row;
}

/** The part of an outbox in a page that references need. */
export interface PageLinks {
  /** The entry with the answers that are known already. */
  readonly refresh: <R extends Unplaced>(entry: R) => Promise<R>;
  /** Makes an entry one with the one before it that changes the same, where surely nothing of that was sent. */
  readonly coalesce: (entry: Unplaced) => Promise<Kept | undefined>;
  /** Another tab has changed an entry that those of this page alone may refer to. */
  readonly followInPage: (id: string) => Promise<void>;
  /** Brings up to date what refers to an entry that cannot be read any more. */
  readonly follow: (row: Row) => Promise<void>;
}

/** Entries that refer to the answers of others: the value of the option `links`. Made by `outboxLinks`. */
export interface OutboxLinks {
  /** @internal */
  readonly rows: RowLinks;
  /** @internal The fields of an entry with these variables. */
  readonly begin: (
    definition: HandlerDefinition,
    variables: unknown,
  ) => Pick<Row, 'parents' | 'thing'>;
  /** @internal The variables with all answers. Rejects where one is missing. */
  readonly fill: (
    variables: unknown,
    entry: Row,
    codec: Codec,
    read: Backend['read'],
  ) => Promise<unknown>;
  /** @internal */
  readonly attach: (parts: OutboxParts, forget: Forget) => PageLinks;
}

const defaults = { keepAnswersMs: 86_400_000, maxAnswers: 1000 } as const;

/**
 * Lets an entry of the outbox refer to the answer of another one that is not delivered yet (see `answerOf`), and merges
 * several changes of one thing where their handlers say how (`coalesce`). A value for the option `links` of
 * `createOutbox`; the same in `deliverOnSync`.
 *
 * @throws TypeError in development, when an option is not as it must be.
 *
 * @example
 * ```ts
 * const outbox = createOutbox({ steady, queryClient, handlers, links: outboxLinks() });
 * ```
 */
export function outboxLinks(options: OutboxLinksOptions = {}): OutboxLinks {
  const { keepAnswersMs = defaults.keepAnswersMs, maxAnswers = defaults.maxAnswers } = options;
  if (process.env.NODE_ENV !== 'production') {
    const range = { min: 0, max: Number.MAX_SAFE_INTEGER };
    requireWhole('outboxLinks', 'keepAnswersMs', keepAnswersMs, range);
    requireWhole('outboxLinks', 'maxAnswers', maxAnswers, range);
  }
  return {
    rows: linkRows(keepAnswersMs, maxAnswers),
    begin,
    fill: async (variables, { parents = [] }, codec, read) =>
      fill(variables, await answersOf(parents, codec, read, true)),
    attach: (parts, forget) => ({
      refresh: (entry) => refresh(entry, parts),
      coalesce: (entry) => coalesce(entry, parts, forget),
      followInPage: (id) => followInPage(id, parts),
      follow: (row) => follow(row, parts),
    }),
  };
}

async function follow(row: Row, { clock, engine, storage, onFollow }: OutboxParts): Promise<void> {
  try {
    const settled = await engine.store.writeAt(row.seq, 'relaxed', async (tx) => ({
      row: undefined,
      next: await unblock(tx, row.scope, clock.now(), rowLinks),
      followers: await rowLinks.follow(tx, row, undefined, clock.now()),
    }));
    onFollow(settled);
  } catch (error) {
    storage.showError(error);
  }
}

async function followInPage(id: string, parts: OutboxParts): Promise<void> {
  if (parts.storage.inPage().length === 0) return;
  const row = await parts.engine.store.find(id).catch(() => undefined);
  if (row) await follow(row, parts);
}

function begin({ handler }: HandlerDefinition, variables: unknown): Pick<Row, 'parents' | 'thing'> {
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

/** Its scope and what it changes are then the same as of an entry that is submitted with the real id. */
async function refresh<R extends Unplaced>(
  entry: R,
  { codec, handlers, storage, engine }: OutboxParts,
): Promise<R> {
  const { parents, handler, variables: sealed } = entry;
  const definition = handlers.get(handler);
  if (!parents || !definition) return entry;
  try {
    await storage.opened();
    const answers = await answersOf(parents, codec, engine.store.read, false);
    if (answers.size === 0) return entry;
    const variables = fill(await codec.decode(structuredClone(sealed)), answers);
    const left = parents.filter((key) => !answers.has(key));
    const scope = scopeOf('outbox', definition, variables);
    const blocks = entry.blocks === undefined ? undefined : scope;
    const { thing } = begin(definition, variables);
    const own = { variables: await codec.encode('outbox', variables), thing, scope, blocks };
    return { ...entry, ...own, parents: left[0] === undefined ? undefined : left };
  } catch {
    // It stays as it is, and its end says why.
    return entry;
  }
}

/** The latest row that changes a thing; or the one that makes it, which the thing is named by. */
async function lastOf(tx: Transaction, thing: string): Promise<Row | undefined> {
  const changes = await tx.rows('thing', [thing]);
  const [maker] = keysIn(thing);
  const made = maker === undefined ? undefined : await rowByKey(tx, maker);
  return [made, ...changes]
    .filter((row) => row !== undefined)
    .toSorted((one, other) => other.seq - one.seq)[0];
}

/** Surely nothing of it was sent. */
const isUnsent = (row: Row): row is Row & { readonly owner: string } =>
  row.state === 'pending' &&
  row.owner !== undefined &&
  row.attempts === 0 &&
  row.noted === 0 &&
  !row.isInDoubt &&
  !row.isRedriven;

/** What the app throws costs nothing but the merge. */
async function coalesce(
  entry: Unplaced,
  parts: OutboxParts,
  forget: Forget,
): Promise<Kept | undefined> {
  const { handler, thing, isInDoubt } = entry;
  const { storage, engine, handlers } = parts;
  const { coalesce: coalescing } = handlers.get(handler)?.handler ?? {};
  if (!coalescing || thing === undefined || isInDoubt) return undefined;
  try {
    await storage.opened();
    const earlier = await engine.store.read((tx) => lastOf(tx, thing));
    const isMergeable = earlier && isUnsent(earlier);
    const next = isMergeable && (await merge(entry, earlier, coalescing, parts));
    const merged = next && (await replaceUnsent(parts, { earlier, entry, next }));
    if (!merged) return undefined;
    announce(merged, parts, forget);
    const { row } = merged;
    return { entry: row, savedIn: isInPage(row) ? undefined : storage.generation };
  } catch (error) {
    if (process.env.NODE_ENV !== 'production')
      warn(
        coalescing,
        'coalesce',
        `An entry of the outbox handler '${handler}' is not merged: ${(error as Error).message}`,
      );
    return undefined;
  }
}

/** Both submitters have the end of the one that is left. */
function announce(
  merged: Merged,
  { memory, receipts, others, onDue, onFollow }: OutboxParts,
  forget: Forget,
): void {
  const { earlier, row } = merged;
  const { id } = earlier;
  if (row.state === 'done') {
    forget.one(id, earlier);
    others.post({ kind: 'discarded', id, isInDoubt: false });
  } else {
    memory.endWaiting(id, 'cancelled');
    receipts.rename(id, row.id, row);
    others.post({ kind: 'renamed', id, next: row.id });
    onDue(row);
  }
  onFollow(merged);
}

/** @returns the row that is left of two; undefined where they stay two. */
async function merge(
  entry: Unplaced,
  earlier: Row,
  coalescing: OutboxCoalesce<unknown>,
  { clock, codec, handlers }: OutboxParts,
): Promise<Row | undefined> {
  const definition = handlers.get(earlier.handler);
  const read = await readVariables(earlier, definition, codec);
  if ('reason' in read || !definition) return undefined;
  const before = { handler: earlier.handler, variables: read.variables };
  const merged = coalescing.merge(before, await codec.decode(structuredClone(entry.variables)));
  const { id } = entry;
  if (merged === 'both') return undefined;
  if (merged === 'neither') {
    const over = { state: 'done', doneAt: clock.now(), result: await codec.encode('outbox', undefined) };
    const none = { parents: undefined, thing: undefined };
    return { ...entry, ...stateless, ...none, ...over, seq: earlier.seq } as Row;
  }
  const { variables } = merged;
  const own = { parents: undefined, thing: undefined, ...begin(definition, variables) };
  if (process.env.NODE_ENV !== 'production' && refersTo(own, earlier))
    throw new TypeError(
      'coalesce.merge has put the reference to the earlier entry into that itself. Leave the id out.',
    );
  const sealed = await codec.encode('coalesce.merge', variables);
  const named = { id, formerIds: keysOf(earlier), version: definition.version };
  return { ...earlier, ...own, ...named, variables: sealed };
}

/** Rows before and after a merge. */
interface Replacement {
  readonly earlier: Row;
  readonly entry: Unplaced;
  readonly next: Row;
}

/** @returns undefined where that may not be: it is being sent, or another entry lies between the two. */
function replaceUnsent(
  { clock, engine }: OutboxParts,
  { earlier, entry, next }: Replacement,
): Promise<Merged | undefined> {
  const { id, thing = '', scope } = entry;
  const nowMs = clock.now();
  return engine.store.writeAt(earlier.seq, 'strict', async (tx) => {
    const row = await lastOf(tx, thing);
    if (!row || row.id !== earlier.id || !isUnsent(row)) return undefined;
    // The same press, once more.
    if (await rowByKey(tx, id)) return undefined;
    const inScope = scope === undefined ? [] : await tx.rows('blocks', [scope]);
    if (inScope.some(({ seq }) => seq > row.seq)) return undefined;
    if (next.state === 'done') {
      if (await isNeeded(tx, row)) return undefined;
      await tx.put(next);
      return { earlier: row, row: next, next: await unblock(tx, row.blocks, nowMs, rowLinks) };
    }
    if ((await rowLinks.hold(tx, next))?.state === 'dead') return undefined;
    return {
      earlier: row,
      row: await place(tx, next, row.owner, nowMs, rowLinks),
      next: undefined,
    };
  });
}
