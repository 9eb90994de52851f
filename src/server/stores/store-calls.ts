import { maxTimerMs, systemClock } from '../../core/lib/clock.ts';
import { notifyApp } from '../../core/lib/input/callback.ts';
import type { Settings } from '../options.ts';
import { type Claim, type ClaimResult, LeaseOverError, type StoredAnswer } from './store.ts';

type StoreSettings<Tx> = Pick<Settings<Tx>, 'store' | 'storeTimeoutMs' | 'onStoreError'>;

/**
 * Claims a key.
 *
 * @returns undefined if the store failed, or did not answer within `storeTimeoutMs`.
 */
export async function claimKey<Tx>(
  settings: StoreSettings<Tx>,
  claim: Claim,
): Promise<ClaimResult | undefined> {
  const { store, storeTimeoutMs, onStoreError } = settings;
  const claiming = (async () => store.claim(claim))();
  const limit = createTimeLimit();
  limit.start(storeTimeoutMs, () => storeTimeout('claim', storeTimeoutMs));
  try {
    return await Promise.race([claiming, limit.isOver]);
  } catch (error) {
    notifyApp(onStoreError, error);
    // Granted after its request was answered: the key must not stay claimed until its lease is over.
    claiming
      .then(({ kind }) =>
        kind === 'claimed' ? store.run(claim, async () => undefined) : undefined,
      )
      .catch(() => {});
    return undefined;
  } finally {
    limit.stop();
  }
}

/**
 * Runs the work of a claim. The store's time limit stands still while the work runs, which the lease limits.
 *
 * @returns The store's result, or undefined if it failed or one of its steps took longer than
 * `storeTimeoutMs`. Whether it committed is then unknown.
 * @throws the error of the work.
 */
export async function runClaim<Tx>(
  settings: StoreSettings<Tx>,
  claim: Claim,
  work: (tx: Tx) => Promise<StoredAnswer | undefined>,
): Promise<boolean | undefined> {
  const { store, storeTimeoutMs, onStoreError } = settings;
  const limit = createTimeLimit();
  const startStep = (step: string): void =>
    limit.start(storeTimeoutMs, () => storeTimeout(step, storeTimeoutMs));
  let thrown: { readonly error: unknown } | undefined;
  let isGivenUp = false;

  startStep('begin');
  const running = (async () =>
    store.run(claim, async (tx) => {
      // The request has been answered meanwhile: the store rolls back, and frees the key.
      if (isGivenUp) return undefined;
      limit.stop();
      try {
        return await work(tx);
      } catch (error) {
        thrown = { error };
        throw error;
      } finally {
        startStep('end');
      }
    }))();
  try {
    return await Promise.race([running, limit.isOver]);
  } catch (error) {
    isGivenUp = true;
    if (thrown && thrown.error === error) throw error;
    notifyApp(onStoreError, error);
    return undefined;
  } finally {
    limit.stop();
  }
}

const storeTimeout = (step: string, storeTimeoutMs: number): Error =>
  new Error(`idempotent: the store did not ${step} within storeTimeoutMs, ${storeTimeoutMs} ms.`);

/** The time that a handler has, from the claim of its key. */
export interface Lease {
  /** Aborted with a {@link LeaseOverError}. */
  readonly signal: AbortSignal;
  /**
   * Stops waiting for work when the lease is over. Work that has not begun by then is not started.
   *
   * @throws LeaseOverError when the lease is over; the error of the work.
   */
  readonly limit: <T>(work: () => Promise<T>) => Promise<T>;
  readonly end: () => void;
}

/** Starts the lease before the claim, so that it ends here before the store grants the key to another request. */
export function startLease(leaseMs: number): Lease {
  const controller = new AbortController();
  const { signal } = controller;
  const time = createTimeLimit();
  const dueMs = systemClock.elapsedMs() + leaseMs;
  const end = (): Error => {
    const error = new LeaseOverError(leaseMs);
    controller.abort(error);
    return error;
  };
  time.start(leaseMs, end);
  return {
    signal,
    async limit(work) {
      signal.throwIfAborted();
      try {
        return await Promise.race([work(), time.isOver]);
      } catch (error) {
        // The database ends a transaction at its lease, too, and a busy process may see that before its own timer.
        if (systemClock.elapsedMs() >= dueMs) end();
        signal.throwIfAborted();
        throw error;
      }
    },
    end: time.stop,
  };
}

interface TimeLimit {
  /** Rejects when the time is over. */
  readonly isOver: Promise<never>;
  readonly start: (delayMs: number, createError: () => Error) => void;
  readonly stop: () => void;
}

function createTimeLimit(): TimeLimit {
  let fail: (error: Error) => void;
  const isOver = new Promise<never>((_, reject) => (fail = reject));
  isOver.catch(() => {});
  let timer: unknown;
  return {
    isOver,
    start(delayMs, createError) {
      const end = (): void => fail(createError());
      timer = systemClock.setTimeout(end, Math.min(delayMs, maxTimerMs));
    },
    stop: () => systemClock.clearTimeout(timer),
  };
}
