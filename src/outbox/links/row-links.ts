import { keysOf, noLinks, rowByKey, type RowLinks } from '../store/linked.ts';
import { isInPage, pageFence } from '../store/memory.ts';
import { lacksAnswer, type NewRow, type Row, stateless } from '../store/row.ts';
import type { Transaction } from '../store/schema.ts';
import { place, unblock } from '../store/transitions.ts';
import { fillText } from './answer-of.ts';

/** Whether the answers that a row refers to are there: all, not yet, or (as things are) never. */
type Readiness = 'ready' | 'waiting' | 'parent-dead' | 'answer-missing';

/** The transitions of rows that refer to the answers of others; answers stay so long, and so many. */
export const linkRows = (keepAnswersMs: number, maxAnswers: number): RowLinks => ({
  ...rowLinks,
  sweep: (tx, nowMs, limit) => sweep(tx, nowMs, nowMs - keepAnswersMs, maxAnswers, limit),
});

export const rowLinks: RowLinks = {
  ...noLinks,
  isOutdated,
  hold,
  follow,
  keepAnswer,
};

async function isOutdated(tx: Transaction, { parents = [] }: NewRow): Promise<boolean> {
  const rows = await Promise.all(parents.map((key) => rowByKey(tx, key)));
  return rows.some((row) => row?.state === 'done');
}

/** An entry goes after the older ones that it refers to. For a younger one it would wait in front of it. */
async function check(
  tx: Transaction,
  { parents = [], seq = Infinity }: Partial<Row>,
): Promise<Readiness> {
  let readiness: Readiness = 'ready';
  for (const key of parents) {
    const parent = await rowByKey(tx, key);
    if (parent?.state === 'done') continue;
    if (!parent || parent.seq >= seq) return 'answer-missing';
    if (parent.state === 'dead') return 'parent-dead';
    readiness = 'waiting';
  }
  return readiness;
}

async function hold<R extends Row | NewRow>(tx: Transaction, row: R): Promise<R | undefined> {
  const checking = check(tx, row);
  // A row of this page may refer to one on a disk that cannot be read: it waits until that can.
  const readiness = await (row.owner === pageFence.owner
    ? checking.catch(() => 'waiting' as const)
    : checking);
  if (readiness === 'ready') return undefined;
  if (readiness === 'waiting') return { ...row, nextRetryAt: undefined };
  // The user decides on the parent, so this row must not block its scope.
  return { ...row, ...stateless, state: 'dead', deadReason: readiness };
}

async function childrenOf(tx: Transaction, parent: Row): Promise<readonly Row[]> {
  const found = new Map<number, Row>();
  for (const key of keysOf(parent))
    for (const child of await tx.rows('parents', [key])) found.set(child.seq, child);
  return [...found.values()].sort((one, other) => one.seq - other.seq);
}

async function follow(
  tx: Transaction,
  parent: Row,
  owner: string | undefined,
  nowMs: number,
  answer?: { readonly data?: unknown },
): Promise<readonly Row[]> {
  const changed: Row[] = [];
  const children = await childrenOf(tx, parent);
  const renamed = answer ? children.map((child) => nameScope(child, parent, answer)) : children;
  // All of them before the first is due: they are of one scope by then.
  for (const [at, child] of renamed.entries()) if (child !== children[at]) await tx.put(child);
  for (const child of renamed) {
    const own = child.owner ?? ownerOf(child, owner);
    const isPut = isWaiting(child) || lacksAnswer(child.deadReason);
    // One of this page is not written with one of the disk: it follows when it moves there.
    if (!isPut || own === undefined || child.waitsFor) continue;
    const placed = await place(tx, child, own, nowMs, rowLinks);
    changed.push(placed);
    if (placed.state === child.state) continue;
    const next = await unblock(tx, child.blocks, nowMs, rowLinks);
    if (next) changed.push(next);
    changed.push(...(await follow(tx, placed, owner, nowMs)));
  }
  return changed;
}

/** Once it is due, all that it refers to is answered, and stays so. */
const isWaiting = ({ state, nextRetryAt }: Row): boolean =>
  state === 'pending' && nextRetryAt === undefined;

/** A row of this page has its owner, and no other row has. */
function ownerOf(child: Row, owner: string | undefined): string | undefined {
  if (isInPage(child)) return pageFence.owner;
  return owner === pageFence.owner ? undefined : owner;
}

/** The id that is known now stands in its scope, as in those of entries that are submitted with it from now on. */
function nameScope(child: Row, parent: Row, { data }: { readonly data?: unknown }): Row {
  const fill = (text: string | undefined): string | undefined =>
    keysOf(parent).reduce((filled, key) => filled && fillText(filled, key, data), text);
  const { scope, blocks, thing } = child;
  const now = { scope: fill(scope), blocks: fill(blocks), thing: fill(thing) };
  return now.scope === scope && now.thing === thing ? child : ({ ...child, ...now } as Row);
}

/** Without what it was sent with. */
function keepAnswer(row: Row): Row | undefined {
  return row.state === 'done' ? { ...row, isRead: true, variables: undefined } : undefined;
}

export async function isNeeded(tx: Transaction, row: Row): Promise<boolean> {
  return (await childrenOf(tx, row)).length > 0;
}

async function sweep(
  tx: Transaction,
  nowMs: number,
  oldMs: number,
  maxAnswers: number,
  limit: number,
): Promise<number> {
  const old = await tx.rows('doneAt', [-Infinity, oldMs - 1], limit);
  const most = Math.min(limit, (await tx.count('doneAt')) - maxAnswers);
  const rows = old[0] || most <= 0 ? old : await tx.rows('doneAt', [-Infinity, Infinity], most);
  let forgotten = 0;
  for (const row of rows) {
    const isKept = await isNeeded(tx, row);
    // As if it were new, so that the others have their turn.
    await (isKept ? tx.put({ ...row, doneAt: nowMs } as Row) : tx.remove(row.seq));
    if (!isKept) forgotten += 1;
  }
  return forgotten;
}
