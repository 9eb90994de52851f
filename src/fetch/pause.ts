import type { Admission } from '../origin/admission.ts';

import type { Ask, Pause, Permit, Waiter } from '../origin/wait-queue.ts';
import type { PausedAttempt } from '../operation/environment.ts';
import type { Operation } from '../operation/operation.ts';
import type { Operations } from '../operation/operations.ts';

/** How a pause ended: by a permit, at its end without one, or because nobody wants it any more. */
export type Release = Permit | 'expired' | 'dropped';

interface PauseContext {
  readonly operations: Operations;
}

/** Waits for an attempt's turn for the admission of its origin, and shows the wait on its operation. */
export function pauseAt(
  admission: Admission,
  ask: Omit<Ask, 'onPause'>,
  operation: Operation,
  signal: AbortSignal | undefined,
  { operations }: PauseContext,
): Promise<Release> {
  return new Promise((resolve) => {
    // Not yet there when it is given its turn at once.
    let waiter = undefined as Waiter | undefined;
    let isOver = false;
    let paused: PausedAttempt | undefined;
    const end = (release: Release): void => {
      if (isOver) {
        // Whoever aborts when they are told of their turn gives it back.
        if (typeof release === 'object') release.settle();
        return;
      }
      isOver = true;
      operations.waits.delete(drop);
      signal?.removeEventListener('abort', drop);
      if (paused) operation.resume(paused, nameOf(release));
      resolve(release);
    };
    const go = (): void => {
      if (waiter) admission.force(waiter);
    };
    const drop = (): void => {
      if (waiter) admission.leave(waiter);
      end('dropped');
    };
    const renew = (): void => {
      operation.renew();
      if (waiter) admission.renew(waiter);
    };
    const onPause = (pause: Pause): void => {
      if (isOver) return;
      paused ??= { pause, go, drop, renew };
      paused.pause = pause;
      operation.pause(paused);
    };
    // Whoever aborts while others are told is not asked to wait.
    if (signal?.aborted) return end('dropped');
    signal?.addEventListener('abort', drop);
    operations.waits.add(drop);
    // Where it would wait in vain there is no place for it; what a user wants now does not wait.
    const maxPauseMs = operation.isUrged ? Infinity : ask.maxPauseMs;
    waiter = admission.wait({ ...ask, maxPauseMs, onPause }, (permit) => end(permit ?? 'expired'));
    if (!waiter) end('expired');
    // Dropped when it was told that it waits.
    else if (isOver) admission.leave(waiter);
    else if (operation.isUrged) {
      operation.isUrged = false;
      go();
    }
  });
}

const nameOf = (release: Release): 'sent' | 'probe' | 'expired' | 'dropped' => {
  if (typeof release === 'string') return release;
  return release.isProbe ? 'probe' : 'sent';
};
