import type { Claim, IdempotencyStore, StoredAnswer } from './store.ts';
import { requireWhole } from './options.ts';

/** How much a {@link memoryStore} keeps. */
export interface MemoryStoreOptions {
  /**
   * The most keys: beyond it, new ones are refused with a 503, because a key that is dropped before
   * its time lets its request run twice. @default 10000
   */
  readonly maxKeys?: number | undefined;
  /**
   * The most bytes of keys and answers: once they are reached, new keys are refused with a 503, too.
   * The answers of handlers that run at that moment come on top. @default 67108864
   */
  readonly maxBytes?: number | undefined;
}

/** What a handler of a {@link memoryStore} gets: nothing in memory rolls back by itself. */
export interface MemoryTransaction {
  /** Does this when the answer is kept, and never when the handler fails: the effect. Synchronous. */
  onCommit(effect: () => void): void;
}

interface Entry extends Claim {
  answer?: StoredAnswer;
  bytes: number;
}

/**
 * Keeps keys and answers in memory: for tests, a demo, or one process whose effects are in its
 * memory, too. A claim has no lease here: who holds it lives as long as the memory does, or until
 * `idempotent` gives its handler up.
 *
 * @throws TypeError that names the option, its value and the allowed range.
 *
 * @example
 * ```ts
 * import { idempotent, memoryStore } from 'steadfetch/server';
 *
 * const orders: unknown[] = [];
 * export const placeOrder = idempotent(
 *   async (request, { tx }) => {
 *     const order: unknown = await request.json();
 *     tx.onCommit(() => orders.push(order));
 *     return Response.json({ id: orders.length + 1 }, { status: 201 });
 *   },
 *   { store: memoryStore() },
 * );
 * ```
 */
export function memoryStore({
  maxKeys = 10_000,
  maxBytes = 67_108_864,
}: MemoryStoreOptions = {}): IdempotencyStore<MemoryTransaction> {
  requireWhole('memoryStore', 'maxKeys', maxKeys, 1);
  requireWhole('memoryStore', 'maxBytes', maxBytes, 1);
  const entries = new Map<string, Entry>();
  let bytes = 0;
  let sweep = entries.values();

  const isOver = (entry: Entry, nowMs: number): boolean =>
    entry.answer !== undefined && entry.expiresAtMs <= nowMs;

  const drop = (entry: Entry): void => {
    entries.delete(entry.id);
    bytes -= entry.bytes;
  };
  const grow = (entry: Entry, by: number): void => {
    entry.bytes += by;
    bytes += by;
  };

  const isFull = (): boolean => entries.size >= maxKeys || bytes >= maxBytes;

  /** Two steps per claim: the sweep comes round faster than the keys grow. */
  const dropExpired = (nowMs: number): void => {
    for (let step = 0; step < 2; step++) {
      const { value, done } = sweep.next();
      if (done) sweep = entries.values();
      else if (isOver(value, nowMs)) drop(value);
    }
  };

  return {
    claim(claim) {
      dropExpired(claim.nowMs);
      const found = entries.get(claim.id);
      if (!found || isOver(found, claim.nowMs)) {
        if (found) drop(found);
        // Before anybody is refused, all that has expired goes.
        if (isFull())
          for (const entry of entries.values()) if (isOver(entry, claim.nowMs)) drop(entry);
        if (isFull()) return { kind: 'full' };
        const entry = { ...claim, bytes: 0 };
        entries.set(claim.id, entry);
        grow(entry, 2 * (claim.id.length + claim.fingerprint.length));
        return { kind: 'claimed' };
      }
      const { fingerprint, answer } = found;
      return answer ? { kind: 'answered', fingerprint, answer } : { kind: 'running', fingerprint };
    },

    async run({ id }, work) {
      const effects: (() => void)[] = [];
      const entry = entries.get(id);
      try {
        const answer = await work({ onCommit: (effect) => void effects.push(effect) });
        if (answer && entry) {
          // First: an effect that throws must not have those before it done again.
          entry.answer = answer;
          grow(entry, bytesOf(answer));
          for (const effect of effects) effect();
        }
      } finally {
        if (entry && !entry.answer) drop(entry);
      }
      return true;
    },
  };
}

function bytesOf({ headers, body }: StoredAnswer): number {
  return body.byteLength + 2 * headers.flat().join('').length;
}
