import type { Row } from './row.ts';
import {
  type Backend,
  type Index,
  indexes,
  type Key,
  type OwnerRecord,
  type Range,
  type Transaction,
} from './schema.ts';

/** Rows of this page alone: what is left where there is no IndexedDB. */
export function createMemoryBackend(): Backend {
  const rows = new Map<number, Row>();
  const owners = new Map<string, OwnerRecord>();
  let lastSeq = 0;
  let turn: Promise<unknown> = Promise.resolve();

  const find = (index: Index, [first, last = first, isAfter = false]: Range) =>
    [...rows.values()]
      .map((row) => ({ row, key: keyOf(row, index) }))
      .filter(
        (one): one is { row: Row; key: Key } =>
          one.key !== undefined &&
          compare(one.key, first) >= (isAfter ? 1 : 0) &&
          compare(one.key, last) <= 0,
      )
      .toSorted((one, other) => compare(one.key, other.key));
  const tx: Transaction = {
    // As on the disk: a change to a row that was read does not change the one that is kept.
    row: async (seq) => structuredClone(rows.get(seq)),
    rows: async (index, range, limit) =>
      find(index, range)
        .slice(0, limit)
        .map(({ row }) => structuredClone(row)),
    places: async (index, range, limit) =>
      find(index, range)
        .slice(0, limit)
        .map(({ row }) => row.seq),
    firstKey: async (index, range) => find(index, range)[0]?.key,
    count: async (index, range = [-Infinity, []]) =>
      index ? find(index, range).length : rows.size,
    page: async (index, key, after, limit) =>
      [...rows.values()]
        .filter((row) => row.seq > after && (key === undefined || keyOf(row, index) === key))
        .slice(0, limit)
        .map((row) => structuredClone(row)),
    async add(row) {
      lastSeq += 1;
      rows.set(lastSeq, structuredClone({ ...row, seq: lastSeq }));
      return lastSeq;
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

  const inTurn = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const result = turn.then(() => work(tx));
    turn = result.catch(() => {});
    return result;
  };
  return {
    read: inTurn,
    write: (_, work) => inTurn(work),
    isSending: (scope) =>
      [...rows.values()].some(({ state, blocks }) => state === 'sending' && blocks === scope),
    close: () => {},
  };
}

/** Undefined where a field of the index is missing: the row is not in it. */
function keyOf(row: Row, index: Index): Key | undefined {
  const keys = [indexes[index]].flat().map((field) => row[field]);
  if (keys.includes(undefined)) return undefined;
  return (keys.length > 1 ? keys : keys[0]) as Key;
}

const rank = (key: Key | undefined): number =>
  ['undefined', 'number', 'string', 'object'].indexOf(typeof key);

/** As IndexedDB orders keys. */
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
