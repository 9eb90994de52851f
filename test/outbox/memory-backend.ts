import { inMemory } from '../../src/outbox/store/memory.ts';
import type { Row } from '../../src/outbox/store/row.ts';
import type { Backend, OwnerRecord } from '../../src/outbox/store/schema.ts';

/** A database in memory, for tests that need no other. */
export function createMemoryBackend(): Backend {
  const rows = new Map<number, Row>();
  let last = 0;
  const tx = inMemory(rows, new Map<string, OwnerRecord>(), () => (last += 1));
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn: Backend['read'] = (work) => {
    const result = turn.then(() => work(tx));
    turn = result.catch(() => {});
    return result;
  };
  return { read: inTurn, write: (_, work) => inTurn(work) };
}
