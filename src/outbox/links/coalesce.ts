import { inDevelopment } from '../../core/lib/development.ts';
import { code, type MadeBy } from '../../core/lib/input/made-by.ts';
import { warn } from '../../core/lib/input/warn.ts';
import type { Forget } from '../clear.ts';
import { readVariables } from '../codec.ts';
import type { OutboxParts } from '../delivery/engine.ts';
import type { OutboxCoalesce } from '../handler.ts';
import { keysOf, refersTo, rowByKey } from '../store/linked.ts';
import { type Row, stateless, type Unplaced } from '../store/row.ts';
import type { Settled } from '../store/row-store.ts';
import type { Transaction } from '../store/schema.ts';
import { place, unblock } from '../store/transitions.ts';
import { keyOf } from './answer-of.ts';
import { begin, type CoalesceCode } from './outbox-links.ts';
import { isNeeded, rowLinks } from './row-links.ts';

interface Merged extends Settled {
  readonly earlier: Row;
  /** The one that is left, at the place of the first and with the key of the second. It is done where nothing is left to do. */
  readonly row: Row;
}

/** The latest row that changes a thing; or the one that makes it, which names the thing by being all of its name. */
async function lastOf(tx: Transaction, thing: string): Promise<Row | undefined> {
  const changes = await tx.rows('thing', [thing]);
  const maker = keyOf(thing);
  const made = maker === undefined ? undefined : await rowByKey(tx, maker);
  return [made, ...changes]
    .filter((row) => row !== undefined)
    .sort((one, other) => other.seq - one.seq)[0];
}

/** Surely nothing of it was sent. */
const isUnsent = (row: Row): row is Row & { readonly owner: string } =>
  row.state === 'pending' &&
  row.owner !== undefined &&
  row.attempts === 0 &&
  !row.isInDoubt &&
  !row.isRedriven;

/**
 * Merges an entry with the one before it that changes the same thing, as the `coalesce` of its handler says, while
 * surely nothing of that one was sent. A value for the option `coalesce` of `outboxLinks`.
 *
 * @example
 * ```ts
 * const outbox = createOutbox({ steady, handlers, links: outboxLinks({ coalesce: coalesceUnsent() }) });
 * ```
 */
export function coalesceUnsent(): MadeBy<'coalesceUnsent'> {
  const made: CoalesceCode = { by: 'coalesceUnsent', merge: mergeUnsent };
  return { [code]: made };
}

const mergeUnsent: CoalesceCode['merge'] = async (entry, parts, forget) => {
  const { handler, thing, isInDoubt } = entry;
  const { engine, handlers } = parts;
  const { coalesce: coalescing } = handlers.get(handler)?.handler ?? {};
  if (!coalescing || thing === undefined || isInDoubt) return undefined;
  try {
    const earlier = await engine.store.read((tx) => lastOf(tx, thing));
    const isMergeable = earlier && isUnsent(earlier);
    const next = isMergeable && (await merge(entry, earlier, coalescing, parts));
    const merged = next && (await replaceUnsent(parts, earlier, entry, next));
    if (!merged) return undefined;
    announce(merged, parts, forget);
    return merged.row;
  } catch (error) {
    inDevelopment(() =>
      warn(
        coalescing,
        'coalesce',
        `An entry of the outbox handler '${handler}' is not merged: ${(error as Error).message}`,
        'outbox.md#options',
      ),
    );
    return undefined;
  }
};

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
    const over = {
      state: 'done',
      doneAt: clock.now(),
      result: await codec.encode('outbox', undefined),
    };
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

/**
 * @returns undefined where that may not be: it is being sent, another entry lies between the two, or an answer has
 *   given it another scope since it was read.
 */
function replaceUnsent(
  { clock, engine }: OutboxParts,
  earlier: Row,
  entry: Unplaced,
  next: Row,
): Promise<Merged | undefined> {
  const { id, thing = '', scope } = entry;
  const nowMs = clock.now();
  return engine.store.writeAt(earlier.seq, 'strict', async (tx) => {
    const row = await lastOf(tx, thing);
    if (row?.id !== earlier.id || row.scope !== earlier.scope || !isUnsent(row)) return undefined;
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
