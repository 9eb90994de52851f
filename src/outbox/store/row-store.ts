import type { PausedEntries } from '../messages.ts';
import {
  type DeadReason,
  type NewRow,
  type Row,
  type RowState,
  type SendingRow,
  type Tried,
  type Unplaced,
  unplace,
} from './row.ts';
import { noLinks, refersTo, rowByKey, type RowLinks } from './linked.ts';
import { isInPage, pageFence } from './memory.ts';
import type { Backend, Durability, Fence, OwnerRecord, Transaction } from './schema.ts';
import {
  type Change,
  after,
  applyChange,
  claimedRow,
  replan,
  headOf,
  insert,
  isOurs,
  isScopeBusy,
  owns,
  place,
  shift,
  texts,
  unblock,
} from './transitions.ts';

/** A row that is sent now, or which other one of its scope comes first. */
interface Claim {
  readonly row: SendingRow | undefined;
  /** The row whose turn has come instead. */
  readonly next: Row | undefined;
}

type RequestRecord = Partial<Pick<Tried, 'steps' | 'isUnkeyed' | 'isRedriven' | 'attempts'>>;

export interface Settled {
  /** The row as it is now; undefined when nothing is kept of it. */
  readonly row: Row | undefined;
  /** The next one of its scope, whose turn has come. */
  readonly next: Row | undefined;
  /** Those that refer to its answer, as far as they have changed by that. */
  readonly followers?: readonly Row[];
}

/** The rows beside it that have changed. */
export const alsoChanged = ({ next, followers = [] }: Settled): readonly Row[] =>
  next ? [next, ...followers] : followers;

/** A row that is to be sent now, and the next one of the scope that it has left. */
export interface Revived extends Settled {
  readonly row: Row;
}

interface DueInLane {
  readonly lane: string;
  /** The places of the rows that are due: so many at most, the first due first. */
  readonly due: readonly number[];
  readonly nextAt: number | undefined;
}

export interface Counts {
  /** To be sent now. */
  readonly due: number;
  /** To be sent later, or after the older ones of their scope. */
  readonly waiting: number;
  /** On their way, and not paused. */
  readonly sending: number;
  /** Their attempts have begun, and wait before they are sent: see `pause` of an entry. */
  readonly paused: number;
  /** How many dead letters need a user. */
  readonly dead: number;
  /** When the oldest of them was submitted, in epoch milliseconds. */
  readonly oldestAt: number | undefined;
}

/** How many rows are read or removed at once: more would hold up the page, and the other tabs. */
export const pageSize = 100;

/** No owner, but which clears were done last. */
const cleared = 'cleared';
const mostClears = 10;

async function readClears(tx: Transaction): Promise<readonly string[]> {
  return (await tx.owner(cleared))?.token.split(' ') ?? [];
}

/** A row in this page that is behind one on the disk is claimed again after so long: another tab may have sent that. */
const claimAgainMs = 1000;

const none = { row: undefined, next: undefined };

type RowKey = RowState | DeadReason | 'other-version' | undefined;
type RowIndex = 'state' | 'deadReason' | 'waitsFor';

/** The operations on rows: each is one transaction. */
export class RowStore {
  readonly #backend: Backend;
  readonly #links: RowLinks;

  constructor(backend: Backend, links: RowLinks = noLinks) {
    this.#backend = backend;
    this.#links = links;
  }

  /**
   * Keeps a row on the disk, and resolves once it is kept. One that has its id already stays, and comes back. A row of
   * this page moves there, unless there was a clear that is not `known`.
   *
   * @param isFilled - False where an answer that it refers to may have come since it was made.
   * @returns `lost` when the owner is no longer of this tab, `cleared` after a clear that is not known, `outdated` when
   *   such an answer has come; undefined when a row of this page is being sent or is over.
   */
  add(
    row: NewRow & { readonly seq?: number },
    fence: Fence,
    nowMs: number,
    known?: ReadonlySet<string>,
    isFilled = true,
  ): Promise<Row | 'lost' | 'cleared' | 'outdated' | undefined> {
    return this.#backend.write('strict', async (tx) => {
      const found = await rowByKey(tx, row.id);
      if (row.seq !== undefined) return found && this.#moveToDisk(tx, found, fence, nowMs, known);
      if (found) return found;
      if (!isFilled && (await this.#links.isOutdated(tx, row))) return 'outdated';
      return (await isOurs(tx, fence, nowMs)) ? this.#insert(tx, row, fence, nowMs) : 'lost';
    });
  }

  /** Some that refer to it may be there before it: another tab has submitted them, or it was in a page alone. */
  async #insert(tx: Transaction, given: NewRow, { owner }: Fence, nowMs: number): Promise<Row> {
    const row = await insert(tx, given, nowMs, this.#links);
    await this.#links.follow(tx, row, owner, nowMs);
    return row;
  }

  async #moveToDisk(
    tx: Transaction,
    row: Row,
    fence: Fence,
    nowMs: number,
    known: ReadonlySet<string> | undefined,
  ): Promise<Row | 'lost' | 'cleared' | undefined> {
    if (!(await isMovable(tx, row))) return undefined;
    if (!(await isOurs(tx, fence, nowMs))) return 'lost';
    await tx.remove(row.seq);
    if (await hasNewClear(tx, known)) return 'cleared';
    const owner = row.owner && fence.owner;
    // One that was sent by an earlier page may be there from then.
    const there = await rowByKey(tx, row.id);
    return there ?? this.#insert(tx, { ...unplace(row), owner } as NewRow, fence, nowMs);
  }

  /** Keeps a row in this page alone. It goes at once, unless it is claimed behind others of its scope. */
  addToPage(row: Unplaced, nowMs: number): Promise<Row> {
    const own = { ...row, owner: pageFence.owner, nextRetryAt: row.nextRetryAt ?? nowMs } as NewRow;
    return this.#backend.write('page', (tx) => insert(tx, own, nowMs, this.#links));
  }

  /** The latest clears that were done in this database. Rejects where it cannot be written. */
  clears(): Promise<readonly string[]> {
    return this.#backend.write('relaxed', readClears);
  }

  /**
   * Takes a row that is due, to send it now.
   *
   * @returns `lost` when the owner is no longer of this tab; no row when it is not its turn.
   */
  claim(seq: number, fence: Fence, nowMs: number): Promise<Claim | 'lost'> {
    return this.writeAt(seq, 'relaxed', async (tx) => {
      const [isOwn, row] = await Promise.all([owns(tx, fence), tx.row(seq)]);
      if (!isOwn) return 'lost';
      if (row?.owner !== fence.owner || (row.nextRetryAt ?? Infinity) > nowMs) return none;
      // The tab that was sending the row has died, and this one has taken it over.
      const isInDoubt = row.isInDoubt || row.state === 'sending';
      const next = await this.#claimInstead(tx, { ...row, isInDoubt }, nowMs);
      if (next) return { row: undefined, next: next.row };
      const claimed: SendingRow = {
        ...row,
        isInDoubt,
        // The time that the server has said has come, also where the clock is set back meanwhile.
        notBefore: undefined,
        state: 'sending',
        claims: row.claims + 1,
        lastAttemptAt: nowMs,
      };
      await tx.put(claimed);
      return { row: claimed, next: undefined };
    });
  }

  /** @returns undefined where it is the turn of the row; else the one whose turn has come by that, if any. */
  async #claimInstead(
    tx: Transaction,
    row: Row & { readonly owner: string },
    nowMs: number,
  ): Promise<{ readonly row: Row | undefined } | undefined> {
    const { blocks } = row;
    if (blocks === undefined) return undefined;
    const head = await headOf(tx, blocks);
    if (head && head.seq !== row.seq) {
      const isAcross = isInPage(row) && !isInPage(head);
      const nextRetryAt = isAcross ? nowMs + claimAgainMs : undefined;
      // An older one has come back: this one waits behind it, and holds it up no longer.
      const behind: Row = { ...row, nextRetryAt, state: 'pending' };
      await tx.put(behind);
      return { row: isAcross ? behind : await unblock(tx, blocks, nowMs, this.#links) };
    }
    // A younger one that went while this one was dead ends first, and tells.
    return (await isScopeBusy(tx, row)) ? { row: undefined } : undefined;
  }

  /**
   * Records what a request of a claimed row is, before that goes.
   *
   * @returns false when it may not go: the row is no longer of this tab.
   */
  recordRequest(claimed: Row, fence: Fence, record: RequestRecord): Promise<boolean> {
    // Without a key that its server knows, this mark alone keeps it from being sent twice.
    return this.writeAt(claimed.seq, record.isUnkeyed ? 'strict' : 'relaxed', async (tx) => {
      const row = await claimedRow(tx, claimed, fence);
      if (row) await tx.put({ ...row, ...record });
      return !!row;
    });
  }

  /**
   * Records the end of an attempt at a row that was claimed.
   *
   * @returns undefined when it is no longer of this tab, or a user has discarded it.
   */
  recordEnd(
    claimed: Row,
    fence: Fence,
    change: Change,
    nowMs: number,
  ): Promise<Settled | undefined> {
    return this.writeAt(claimed.seq, 'strict', async (tx) => {
      const row = await claimedRow(tx, claimed, fence);
      if (!row) return undefined;
      const { seq } = row;
      const ended = applyChange(row, change, nowMs);
      const changed = ended?.isRead ? this.#links.keepAnswer(ended) : ended;
      const [, head] = await Promise.all([
        changed ? tx.put(changed) : tx.remove(seq),
        unblock(tx, row.blocks, nowMs, this.#links),
      ]);
      const next = head?.seq === seq ? undefined : head;
      const answer = change.kind === 'done' ? change : undefined;
      const isOver = answer !== undefined || change.kind === 'dead';
      if (!changed || !isOver) return { row: changed, next };
      const followers = await this.#links.follow(tx, changed, fence.owner, nowMs, answer);
      return { row: changed, next, followers };
    });
  }

  /** The entries of an owner that are due in each lane, and when the next one is. */
  due({ owner }: Fence, nowMs: number, limit: number): Promise<readonly DueInLane[]> {
    return this.#backend.read(async (tx) => {
      const lanes: DueInLane[] = [];
      for (let from = ''; ;) {
        const key = await tx.firstKey('lanes', [
          [owner, from],
          [owner, texts[1]],
        ]);
        if (!key) return lanes;
        const [, lane] = key as [string, string];
        const first = [owner, lane];
        const [due, next] = await Promise.all([
          tx.places('lanes', [first, [owner, lane, nowMs]], limit),
          tx.firstKey('lanes', after(first, nowMs)),
        ]);
        lanes.push({ lane, due, nextAt: (next as [string, string, number] | undefined)?.[2] });
        // The next text there is: beyond all of its times.
        from = `${lane}\0`;
      }
    });
  }

  /**
   * Rows of a lane that wait for longer than `mostMs`, and for no reason of the server, go after `delayMs`, which is
   * no longer than that.
   */
  async wake(
    fence: Fence,
    lane: string,
    nowMs: number,
    mostMs: number,
    delayMs: () => number,
  ): Promise<void> {
    // An entry that goes by then anyway stays as it is planned.
    let from = nowMs + mostMs;
    const wakePage = async (tx: Transaction): Promise<boolean> => {
      const page = await tx.rows('lanes', after([fence.owner, lane], from), pageSize);
      let isAnyMoved = false;
      for (const row of page) {
        const at = Math.max(row.notBefore ?? 0, nowMs + delayMs());
        if (row.owner === undefined || at >= (row.nextRetryAt ?? 0)) continue;
        await tx.put({ ...row, nextRetryAt: at });
        isAnyMoved ||= at <= from;
      }
      // Those that were moved are no longer in the range.
      if (!isAnyMoved) from = page[page.length - 1]?.nextRetryAt ?? Infinity;
      return page.length === pageSize;
    };
    while (await this.#ifOwned(fence, false, wakePage));
  }

  /** The clock was set back by so long: what an owner waits for comes no later for it. */
  setBack(fence: Fence, nowMs: number, byMs: number): Promise<void> {
    return this.#ifOwned(fence, undefined, async (tx) => {
      for (const row of await tx.rows('due', after([fence.owner], nowMs)))
        await tx.put(shift(row, -byMs));
    });
  }

  async owners(): Promise<readonly OwnerRecord[]> {
    const records = await this.#backend.read((tx) => tx.owners());
    return records.filter(({ owner }) => owner !== cleared && owner !== pageFence.owner);
  }

  /**
   * Takes the rows of an owner that is dead, and had this token. Where the clock was set back meanwhile, their waits
   * are over; what the server has told to wait does so anew.
   *
   * @returns false when it has none, or another was first.
   */
  adopt(fence: Fence, from: string, nowMs: number): Promise<boolean> {
    return this.#backend.write('relaxed', async (tx) => {
      if ((await tx.owner(fence.owner))?.token !== from) return false;
      await tx.putOwner({ ...fence, signedAt: nowMs });
      for (const row of await tx.rows('due', after([fence.owner], nowMs))) {
        const moved = replan(row, nowMs);
        if (moved !== row) await tx.put(moved);
      }
      return true;
    });
  }

  /** The tab that has this owner shows that it lives. @returns false when another has taken over. */
  sign(fence: Fence, signedAt: number): Promise<boolean> {
    return this.#ifOwned(fence, false, async (tx) => {
      await tx.putOwner({ ...fence, signedAt });
      return true;
    });
  }

  /** Forgets an owner that has nothing to send. @returns whether it is forgotten. */
  abandon(fence: Fence): Promise<boolean> {
    return this.#ifOwned(fence, true, async (tx) => {
      if (await tx.firstKey('owner', [fence.owner])) return false;
      await tx.removeOwner(fence.owner);
      return true;
    });
  }

  find(id: string): Promise<Row | undefined> {
    return this.#backend.read((tx) => rowByKey(tx, id));
  }

  /** Rows in the order of their places, after one of them: all, or those with this key of an index. */
  list(
    key: RowKey,
    from: number,
    limit: number,
    index: RowIndex = 'state',
  ): Promise<readonly Row[]> {
    return this.#backend.read((tx) => tx.page(index, key, from, limit));
  }

  /** The same, to the last, of which a page is read at a time. */
  async *all(key: RowKey, index?: RowIndex): AsyncGenerator<Row> {
    let page: readonly Row[] | undefined;
    for (
      let from = 0;
      (page?.length ?? pageSize) === pageSize;
      from = page?.[page.length - 1]?.seq ?? 0
    ) {
      page = await this.list(key, from, pageSize, index);
      yield* page;
    }
  }

  count(nowMs: number, pauses: PausedEntries): Promise<Counts> {
    return this.#backend.read(async (tx) => {
      const owners = await tx.owners();
      const dues = await Promise.all(
        owners.map(({ owner }) => tx.count('due', [[owner], [owner, nowMs]])),
      );
      const states = ['pending', 'sending', 'dead'] as const;
      const counts = await Promise.all(states.map((state) => tx.count('state', [state])));
      const [pending = 0, claimed = 0, dead = 0] = counts;
      const known = await Promise.all([...pauses.ids()].map((id) => rowByKey(tx, id)));
      const paused = known.filter((row) => row && pauses.of(row)).length;
      const oldest = await Promise.all(states.map((state) => tx.rows('state', [state], 1)));
      const times = oldest.flat().map(({ createdAt }) => createdAt);
      // An entry that is being sent, or is paused, is due, too.
      const due = Math.max(0, dues.reduce((sum, count) => sum + count, 0) - claimed);
      const oldestAt = times.length > 0 ? Math.min(...times) : undefined;
      return { due, waiting: pending - due, sending: claimed - paused, paused, dead, oldestAt };
    });
  }

  /**
   * A row is to be sent now, by this tab: one that waits for its time, whichever tab had it, or a dead one.
   * `change` makes another of it, maybe of another scope; or undefined, where it is to stay.
   *
   * @returns the row as it is now, and whose turn has come by that; undefined when it stays, `lost` when the owner is
   *   no longer of this tab.
   */
  revive(
    id: string,
    fence: Fence,
    nowMs: number,
    change: (row: Row) => Row | undefined = (row) => row,
  ): Promise<Revived | 'lost' | undefined> {
    return this.#backend.write('strict', async (tx) => {
      const found = await rowByKey(tx, id);
      if (found?.state !== 'dead' && found?.state !== 'pending') return undefined;
      const changed = change(found);
      if (!changed) return undefined;
      const own = isInPage(found) ? pageFence : fence;
      if (!(await isOurs(tx, own, nowMs))) return 'lost';
      const row = await place(tx, changed, own.owner, nowMs, this.#links);
      // Behind it in the scope that it has left.
      const isMoved = row.blocks !== found.blocks;
      const next = isMoved ? await unblock(tx, found.blocks, nowMs, this.#links) : undefined;
      return { row, next, followers: await this.#links.follow(tx, row, fence.owner, nowMs) };
    });
  }

  /** Forgets a row, whatever it is at. @returns what it was; undefined when there is none. */
  discard(id: string, nowMs: number): Promise<Revived | undefined> {
    return this.#backend.write('strict', async (tx) => {
      const row = await rowByKey(tx, id);
      if (!row) return undefined;
      await this.#take(tx, row);
      const next = await unblock(tx, row.blocks, nowMs, this.#links);
      return { row, next, followers: await this.#links.follow(tx, row, undefined, nowMs) };
    });
  }

  /** Brings up to date what waited for this row, which has changed without that. */
  follow(row: Row, nowMs: number): Promise<Settled> {
    return this.writeAt(row.seq, 'relaxed', async (tx) => ({
      row,
      next: await unblock(tx, row.scope, nowMs, this.#links),
      followers: await this.#links.follow(tx, row, undefined, nowMs),
    }));
  }

  acknowledge(id: string): Promise<void> {
    return this.#backend.write('relaxed', async (tx) => {
      const row = await rowByKey(tx, id);
      if (row?.state === 'done') await this.#take(tx, row);
    });
  }

  /** The submitter of a row has what it wants of it. */
  async #take(tx: Transaction, row: Row): Promise<void> {
    const answer = row.state === 'done' ? this.#links.keepAnswer(row) : undefined;
    await (answer ? tx.put(answer) : tx.remove(row.seq));
  }

  /** Forgets results that are not needed any more. @returns whether there are others. */
  async sweep(nowMs: number): Promise<boolean> {
    const sweepPage = (tx: Transaction): Promise<number> => this.#links.sweep(tx, nowMs, pageSize);
    while ((await this.#backend.write('relaxed', sweepPage)) === pageSize);
    return (await this.#backend.read((tx) => tx.count('doneAt'))) > 0;
  }

  /** Forgets all rows, once for each token: several tabs may be asked to. */
  clear(token: string): Promise<void> {
    return this.#backend.write('strict', async (tx) => {
      const clears = await readClears(tx);
      if (clears.includes(token)) return;
      await tx.clear();
      const all = [...clears, token].slice(-mostClears);
      await tx.putOwner({ owner: cleared, token: all.join(' '), signedAt: 0 });
    });
  }

  readonly read: Backend['read'] = (work) => this.#backend.read(work);

  /** Changes the row at this place, and the next one of its scope. */
  writeAt<T>(
    seq: number,
    durability: Durability,
    work: (tx: Transaction) => Promise<T>,
  ): Promise<T> {
    return this.#backend.write(isInPage({ seq }) ? 'page' : durability, work);
  }

  #ifOwned<T>(fence: Fence, otherwise: T, work: (tx: Transaction) => Promise<T>): Promise<T> {
    const durability = fence.owner === pageFence.owner ? 'page' : 'relaxed';
    return this.#backend.write(durability, async (tx) =>
      (await owns(tx, fence)) ? work(tx) : otherwise,
    );
  }
}

/** Whether the database was cleared in a way that is not known. */
async function hasNewClear(
  tx: Transaction,
  known: ReadonlySet<string> | undefined,
): Promise<boolean> {
  return (await readClears(tx)).some((clear) => !known?.has(clear));
}

/**
 * Whether a row of this page is not being sent, and neither is another one of its scope sent from it, nor one that it
 * refers to left in it.
 */
async function isMovable(tx: Transaction, row: Row): Promise<boolean> {
  if (row.state === 'sending') return false;
  const own = await tx.rows('owner', [pageFence.owner]);
  return !own.some(
    (other) =>
      (other.state === 'sending' && other.scope !== undefined && other.scope === row.scope) ||
      refersTo(row, other),
  );
}
