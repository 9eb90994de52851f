import type { Backend, Transaction } from './backend.ts';
import type { OwnerRecord, Row } from './row.ts';

/** Rows of this page alone: what is left where there is no IndexedDB. */
export function createMemoryBackend(): Backend {
  let rows = new Map<number, Row>();
  let owners = new Map<string, OwnerRecord>();
  let lastSeq = 0;
  let turn: Promise<unknown> = Promise.resolve();

  // As on the disk: nobody can change what is kept by changing what he was given.
  const find = (test: (row: Row) => boolean): Row[] =>
    [...rows.values()].filter(test).map((row) => structuredClone(row));
  const dueOf = (owner: string, nowMs: number): Row[] =>
    find((row) => row.liveOwner === owner && (row.nextRetryAt ?? Infinity) <= nowMs);
  const laterOf = (owner: string, lane: string | undefined, nowMs: number): Row[] =>
    find(
      (row) =>
        row.liveOwner === owner &&
        (lane ?? row.lane) === row.lane &&
        (row.nextRetryAt ?? nowMs) > nowMs,
    ).toSorted(firstDue);
  const firstDue = ({ nextRetryAt: one = 0 }: Row, { nextRetryAt: other = 0 }: Row): number =>
    one - other;
  const tx: Transaction = {
    row: async (seq) => structuredClone(rows.get(seq)),
    rowById: async (id) => find((row) => row.id === id)[0],
    async add(row) {
      lastSeq += 1;
      rows.set(lastSeq, structuredClone({ ...row, seq: lastSeq }));
      return lastSeq;
    },
    put: async (row) => rows.set(row.seq, structuredClone(row)),
    remove: async (seq) => rows.delete(seq),
    headOf: async (scope) => find(({ blocks }) => blocks === scope)[0],
    async lanes(owner) {
      const timed = find((row) => row.liveOwner === owner && row.nextRetryAt !== undefined);
      return [...new Set(timed.map(({ lane }) => lane))];
    },
    nextDueAt: async (owner, lane, nowMs) => laterOf(owner, lane, nowMs)[0]?.nextRetryAt,
    planned: async (owner, lane, nowMs, limit) => laterOf(owner, lane, nowMs).slice(0, limit),
    due: async (owner, lane, nowMs, limit) =>
      dueOf(owner, nowMs)
        .filter((row) => row.lane === lane)
        .toSorted(firstDue)
        .slice(0, limit)
        .map(({ seq }) => seq),
    countDue: async (owner, nowMs) => dueOf(owner, nowMs).length,
    postdated: async (owner, nowMs, limit) =>
      find(({ liveOwner, plannedAt = 0 }) => liveOwner === owner && plannedAt > nowMs).slice(
        0,
        limit,
      ),
    hasLive: async (owner) => find(({ liveOwner }) => liveOwner === owner).length > 0,
    list: async (state, after, limit) =>
      find((row) => row.seq > after && (state === undefined || row.state === state)).slice(
        0,
        limit,
      ),
    count: async (state) => find((row) => row.state === state).length,
    tooNew: async (after, limit) =>
      find(({ seq, waitsFor }) => seq > after && !!waitsFor).slice(0, limit),
    dead: async (reason, after, limit) =>
      find(({ seq, deadReason }) => seq > after && deadReason === reason).slice(0, limit),
    doneBefore: async (ms, limit) =>
      find(({ doneAt = ms }) => doneAt < ms)
        .slice(0, limit)
        .map(({ seq }) => seq),
    hasStrays: async () => false,
    owner: async (owner) => owners.get(owner),
    owners: async () => [...owners.values()],
    putOwner: async (record) => owners.set(record.owner, record),
    removeOwner: async (owner) => owners.delete(owner),
    async clear() {
      rows = new Map();
      owners = new Map();
    },
  };

  const inTurn = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => {
    const result = turn.then(() => work(tx));
    turn = result.catch(() => {});
    return result;
  };
  return {
    isDurable: false,
    read: inTurn,
    write: (_, work) => inTurn(work),
    close: () => {},
  };
}
