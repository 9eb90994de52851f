import { type Claim, type IdempotencyStore, partlyDone, type StoredAnswer } from './store.ts';
import { requireFrom } from '../options.ts';

/** The limits of a {@link memoryStore}. */
export interface MemoryStoreOptions {
  /**
   * The largest number of keys. Beyond it, new keys are refused with a 503: a request whose key was dropped
   * early would run twice. @default 10000
   */
  readonly maxKeys?: number | undefined;
  /**
   * The largest size of all keys and answers, in bytes. Beyond it, new keys are refused with a 503. Answers
   * of handlers already running still come on top. @default 67108864
   */
  readonly maxBytes?: number | undefined;
}

/** The transaction of a {@link memoryStore}. Memory cannot roll back, so effects wait for the commit. */
export interface MemoryTransaction {
  /**
   * Runs an effect at the commit, and never if the handler fails. The effect must be synchronous. If it
   * throws, the request is answered 503. The next attempt runs if this was the first effect, and otherwise
   * gets a 500, because the effects before it stay.
   */
  onCommit(effect: () => void): void;
}

interface Entry extends Claim {
  readonly expiresAtMs: number;
  answer?: StoredAnswer;
  bytes: number;
}

/**
 * Stores keys and answers in memory: for tests, demos, or a process whose effects are in memory, too. A claim
 * lasts until its handler ends, or until `idempotent` stops waiting for the handler. Its lease is not used,
 * because a process that dies takes its memory with it.
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
  requireFrom('memoryStore', 'maxKeys', maxKeys, 1);
  requireFrom('memoryStore', 'maxBytes', maxBytes, 1);
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

  /** Two steps per claim, so the sweep outpaces the growth. */
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
        // All expired keys are dropped before a new one is refused.
        if (isFull())
          for (const entry of entries.values()) if (isOver(entry, claim.nowMs)) drop(entry);
        if (isFull()) return { kind: 'full' };
        const entry = { ...claim, expiresAtMs: claim.nowMs + claim.lifetimeMs, bytes: 0 };
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
          let done = 0;
          try {
            for (; done < effects.length; done++) effects[done]?.();
          } finally {
            // The first effect threw, so nothing was done: the next attempt may run.
            if (done > 0 || effects.length === 0)
              entry.answer = done < effects.length ? partlyDone : answer;
            if (entry.answer) grow(entry, bytesOf(entry.answer));
          }
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
