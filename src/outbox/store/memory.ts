import type { Row } from './row.ts';
import {
  type Fence,
  type Index,
  indexes,
  isMulti,
  type Key,
  type OwnerRecord,
  type Range,
  type Transaction,
} from './schema.ts';

/** Rows of this page alone come after those on the disk: their places begin here. */
const firstPlace = 2 ** 52;

export const pageFence: Fence = { owner: 'this page', token: 'this page' };

const pageOwner: OwnerRecord = { ...pageFence, signedAt: 0 };

export const isInPage = ({ seq }: Pick<Row, 'seq'>): boolean => seq >= firstPlace;

/** Rows of this page alone. A transaction changes a draft of them, and they change once it is complete. */
export class PageRows {
  readonly #rows: Map<number, Row> = new Map();
  #last = firstPlace - 1;

  isEmpty(): boolean {
    return this.#rows.size === 0;
  }

  list(): readonly Row[] {
    return [...this.#rows.values()];
  }

  clear(): void {
    this.#rows.clear();
  }

  begin(): { readonly tx: Transaction; readonly complete: () => void } {
    const before = new Map(this.#rows);
    const rows = new Map(before);
    const place = (): number => (this.#last += 1);
    return { tx: inMemory(rows, new Map(), place), complete: () => this.#take(rows, before) };
  }

  #take(rows: ReadonlyMap<number, Row>, before: ReadonlyMap<number, Row>): void {
    // A row that was cleared meanwhile does not come back.
    for (const [seq, row] of rows)
      if (row !== before.get(seq) && this.#rows.has(seq) === before.has(seq))
        this.#rows.set(seq, row);
    for (const seq of before.keys()) if (!rows.has(seq)) this.#rows.delete(seq);
  }
}

/** A transaction over rows in memory, with the order and the indexes of a database. */
export function inMemory(
  rows: Map<number, Row>,
  owners: Map<string, OwnerRecord>,
  place: () => number,
): Transaction {
  const find = (index: Index, [from, to = from, isAfter = false]: Range): Row[] =>
    sortBy(
      index,
      [...rows.values()].filter((row) => {
        const key = keyOf(row, index);
        if (key === undefined) return false;
        const keys = isMulti(index) ? (key as readonly Key[]) : [key];
        return keys.some((one) => compare(one, from) >= (isAfter ? 1 : 0) && compare(one, to) <= 0);
      }),
    );
  return {
    // As on the disk: a change to a row that was read does not change the one that is kept.
    row: async (seq) => structuredClone(rows.get(seq)),
    rows: async (index, range, limit) => structuredClone(find(index, range).slice(0, limit)),
    places: async (index, range, limit) =>
      find(index, range)
        .slice(0, limit)
        .map(({ seq }) => seq),
    firstKey: async (index, range) => {
      const [row] = find(index, range);
      return row && keyOf(row, index);
    },
    count: async (index, range = [-Infinity, [[]]]) =>
      index ? find(index, range).length : rows.size,
    page: async (index, key, after, limit) =>
      structuredClone(
        [...rows.values()]
          .filter((row) => row.seq > after && (key === undefined || keyOf(row, index) === key))
          .slice(0, limit),
      ),
    async add(row) {
      const seq = place();
      rows.set(seq, structuredClone({ ...row, seq }));
      return seq;
    },
    put: async (row) => rows.set(row.seq, structuredClone(row)),
    remove: async (seq) => rows.delete(seq),
    owner: async (owner) => owners.get(owner),
    owners: async () => [...owners.values()],
    putOwner: async (record) => owners.set(record.owner, record),
    removeOwner: async (owner) => owners.delete(owner),
    async clear() {
      rows.clear();
      owners.clear();
    },
  };
}

/**
 * Stands for a disk that is not open: it has no rows. `refuse` throws where there may be some all the same, for all
 * that names one of them.
 */
export function noDisk(refuse: () => void): Transaction {
  const lists: Readonly<Record<string, unknown>> = {
    rows: [],
    places: [],
    page: [],
    owners: [],
    count: 0,
    firstKey: undefined,
  };
  return new Proxy({} as Transaction, {
    get: (_, name: string) => async (index: unknown) => {
      if (!(name in lists) || index === 'id') refuse();
      return lists[name];
    },
  });
}

/**
 * One transaction over the rows on the disk and those in this page: by its place, each is in one of them.
 * `isOfPage`: those on the disk do not change.
 */
export function joinRows(disk: Transaction, page: Transaction, isOfPage: boolean): Transaction {
  const at = (seq: number): Transaction => (seq < firstPlace ? disk : page);
  const isOwn = (owner: string | undefined): boolean => owner === pageFence.owner;
  return {
    row: (seq) => at(seq).row(seq),
    async rows(index, range, limit) {
      const inPage = await page.rows(index, range, limit);
      if (index === 'id' && inPage.length > 0) return inPage;
      return sortBy(index, [...(await disk.rows(index, range, limit)), ...inPage]).slice(0, limit);
    },
    places: async (...range) => [
      ...(await disk.places(...range)),
      ...(await page.places(...range)),
    ],
    async firstKey(...range) {
      const [one, other] = [await disk.firstKey(...range), await page.firstKey(...range)];
      return other === undefined || (one !== undefined && compare(one, other) < 0) ? one : other;
    },
    count: async (...range) => (await disk.count(...range)) + (await page.count(...range)),
    async page(index, key, after, limit) {
      const onDisk = await disk.page(index, key, after, limit);
      return [...onDisk, ...(await page.page(index, key, after, limit - onDisk.length))];
    },
    add: (row) => (isOwn(row.owner) ? page : disk).add(row),
    put: async (row) => (isOfPage && row.seq < firstPlace ? undefined : at(row.seq).put(row)),
    remove: (seq) => at(seq).remove(seq),
    owner: async (owner) => (isOwn(owner) ? pageOwner : disk.owner(owner)),
    owners: async () => [...(await disk.owners()), pageOwner],
    // The owner of this page is never written, and its rows are cleared without a transaction.
    putOwner: (record) => disk.putOwner(record),
    removeOwner: (owner) => disk.removeOwner(owner),
    clear: () => disk.clear(),
  };
}

/** Of an index with several keys to a row, one key is read at a time: then the places are the order. */
const sortBy = (index: Index, rows: readonly Row[]): Row[] =>
  [...rows].sort(
    (one, other) =>
      (isMulti(index) ? 0 : compare(keyOf(one, index), keyOf(other, index))) || one.seq - other.seq,
  );

/** Undefined where a field of the index is missing: the row is not in it. */
function keyOf(row: Row, index: Index): Key | undefined {
  const keys = [indexes[index]].flat().map((field) => row[field]);
  if (keys.includes(undefined)) return undefined;
  return (keys.length > 1 ? keys : keys[0]) as Key;
}

const rank = (key: Key | undefined): number => ['number', 'string', 'object'].indexOf(typeof key);

function compare(one: Key | undefined, other: Key | undefined): number {
  if (Array.isArray(one) && Array.isArray(other)) {
    for (let at = 0; at < Math.max(one.length, other.length); at += 1) {
      const order = compare(one[at], other[at]);
      if (order !== 0) return order;
    }
    return 0;
  }
  const [less, more] = [one, other] as [Key, Key];
  return rank(one) - rank(other) || Number(less > more) - Number(less < more);
}
