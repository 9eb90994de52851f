import {
  type Claim,
  type ClaimResult,
  type IdempotencyStore,
  partlyDone,
  type StoredAnswer,
} from './store.ts';
import { checkNames } from '../../core/lib/input/check.ts';
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
  readonly answer?: StoredAnswer;
  readonly bytes: number;
}

/**
 * Stores keys and answers in memory: for tests, demos, or a process whose effects are in memory, too. A claim
 * lasts until its handler ends, or until `idempotent` stops waiting for the handler. Its lease is not used,
 * because a process that dies takes its memory with it. Expired keys are dropped when their room is needed.
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
export function memoryStore(options: MemoryStoreOptions = {}): IdempotencyStore<MemoryTransaction> {
  checkNames('memoryStore', options, ['maxKeys', 'maxBytes']);
  const { maxKeys = 10_000, maxBytes = 67_108_864 } = options;
  requireFrom('memoryStore', 'maxKeys', maxKeys, 1);
  requireFrom('memoryStore', 'maxBytes', maxBytes, 1);
  const entries = new Map<string, Entry>();
  let bytes = 0;

  const keep = (entry: Entry): void => {
    entries.set(entry.id, entry);
    bytes += entry.bytes;
  };
  const drop = (entry: Entry): void => {
    entries.delete(entry.id);
    bytes -= entry.bytes;
  };
  const isFull = (): boolean => entries.size >= maxKeys || bytes >= maxBytes;
  return {
    claim(claim) {
      const { id, nowMs } = claim;
      const found = entries.get(id);
      if (found && !isOver(found, nowMs)) return refusalOf(found);
      if (found) drop(found);
      // All expired keys are dropped before a new one is refused.
      if (isFull()) for (const entry of entries.values()) if (isOver(entry, nowMs)) drop(entry);
      if (isFull()) return { kind: 'full' };
      keep({ ...claim, bytes: 2 * (id.length + claim.fingerprint.length) });
      return { kind: 'claimed' };
    },
    async run({ id }, work) {
      const effects: (() => void)[] = [];
      let answer: StoredAnswer | undefined;
      let done = 0;
      try {
        answer = await work({ onCommit: (effect) => void effects.push(effect) });
        for (const effect of answer ? effects : []) {
          effect();
          done += 1;
        }
      } catch (error) {
        // If the first effect threw, nothing was done: the next attempt may run.
        answer = done > 0 ? partlyDone : undefined;
        throw error;
      } finally {
        // The key was claimed, and a key without an answer is never dropped.
        const entry = entries.get(id) as Entry;
        drop(entry);
        if (answer) keep({ ...entry, answer, bytes: entry.bytes + bytesOf(answer) });
      }
      return true;
    },
  };
}

function refusalOf({ fingerprint, answer }: Entry): ClaimResult {
  return answer ? { kind: 'answered', fingerprint, answer } : { kind: 'running', fingerprint };
}

const isOver = ({ answer, nowMs: claimedAt, lifetimeMs }: Entry, nowMs: number): boolean =>
  answer !== undefined && claimedAt + lifetimeMs <= nowMs;

function bytesOf({ headers, body }: StoredAnswer): number {
  return body.byteLength + 2 * headers.flat().join('').length;
}
