import type { Claim, IdempotencyStore, StoredAnswer } from './store.ts';
import { requireWhole } from './options.ts';

/** How much a {@link memoryStore} keeps. */
export interface MemoryStoreOptions {
  /**
   * The most keys: beyond it, new ones are refused with a 503, because a key that is dropped before
   * its time lets its request run twice. @default 10000
   */
  readonly maxKeys?: number | undefined;
}

/** What a handler of a {@link memoryStore} gets: nothing in memory rolls back by itself. */
export interface MemoryTransaction {
  /** Does this when the answer is kept, and never when the handler fails: the effect. Synchronous. */
  onCommit(effect: () => void): void;
}

interface Entry extends Claim {
  answer?: StoredAnswer;
}

/**
 * Keeps keys and answers in memory: for tests, a demo, or one process whose effects are in its
 * memory, too. A claim has no lease here: who holds it lives as long as the memory does.
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
}: MemoryStoreOptions = {}): IdempotencyStore<MemoryTransaction> {
  requireWhole('memoryStore', 'maxKeys', maxKeys, 1);
  const entries = new Map<string, Entry>();
  let sweep = entries.values();

  const isOver = (entry: Entry, nowMs: number): boolean =>
    entry.answer !== undefined && entry.expiresAtMs <= nowMs;

  /** Two steps per claim: the sweep comes round faster than the keys grow. */
  const dropExpired = (nowMs: number): void => {
    for (let step = 0; step < 2; step++) {
      const { value, done } = sweep.next();
      if (done) sweep = entries.values();
      else if (isOver(value, nowMs)) entries.delete(value.id);
    }
  };

  return {
    claim(claim) {
      dropExpired(claim.nowMs);
      const found = entries.get(claim.id);
      if (!found || isOver(found, claim.nowMs)) {
        if (!found && entries.size >= maxKeys) return { kind: 'full' };
        entries.set(claim.id, { ...claim });
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
          for (const effect of effects) effect();
        }
      } finally {
        if (!entry?.answer) entries.delete(id);
      }
      return true;
    },
  };
}
