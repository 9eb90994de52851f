import type { PausedAttempt, Waiting } from '../operation/environment.ts';
import type { Operation } from '../operation/operation.ts';
import type { Admission } from '../origin/admission.ts';
import type { Ask, Pause, Permit, Waiter, WaitListener } from '../origin/ask.ts';

/** How a pause ended: by a permit, at its end without one, or because it is no longer wanted. */
export type Release = Permit | 'expired' | 'dropped';

/** Waits until the origin admits an attempt, and shows the wait on its operation. */
export function pauseAt(
  admission: Admission,
  ask: Ask,
  operation: Operation,
  signal: AbortSignal | undefined,
  waits: Set<Waiting>,
): Promise<Release> {
  return new Promise((resolve) => {
    const drop = (): void => paused.drop();
    const paused = new PausedRequest(admission, operation, (release) => {
      waits.delete(paused);
      signal?.removeEventListener('abort', drop);
      resolve(release);
    });
    signal?.addEventListener('abort', drop);
    waits.add(paused);
    paused.begin(ask);
  });
}

/** A class, because thousands may wait, and closures would cost more memory. */
class PausedRequest implements PausedAttempt, WaitListener {
  /** Why it waits; undefined until `onPause` is called. */
  declare pause: Pause;
  readonly #admission: Admission;
  readonly #operation: Operation;
  readonly #onEnd: (release: Release) => void;
  /** Undefined if it is admitted at once. */
  #waiter: Waiter | undefined;
  #isOver = false;

  constructor(admission: Admission, operation: Operation, onEnd: (release: Release) => void) {
    this.#admission = admission;
    this.#operation = operation;
    this.#onEnd = onEnd;
  }

  begin(ask: Ask): void {
    const waiter = (this.#waiter = this.#admission.wait(ask, this));
    // A listener of `pause:start` may have dropped the request.
    if (this.#isOver) this.#admission.leave(waiter);
    else if (this.#operation.takeUrge()) this.go();
  }

  onPause(pause: Pause): void {
    this.pause = pause;
    this.#operation.pause(this);
  }

  take(permit?: Permit): void {
    this.#end(permit ?? 'expired');
  }

  go(): void {
    if (this.#waiter) this.#admission.force(this.#waiter);
  }

  drop(): void {
    this.#leave('dropped');
  }

  expire(): void {
    this.#leave('expired');
  }

  renew(): void {
    this.#operation.renew();
    if (this.#waiter) this.#admission.renew(this.#waiter);
  }

  #leave(release: Release): void {
    if (this.#waiter) this.#admission.leave(this.#waiter);
    this.#end(release);
  }

  #end(release: Release): void {
    if (this.#isOver) {
      // A listener may have aborted it when its turn came. Then the permit is returned.
      if (typeof release === 'object') release.end();
      return;
    }
    this.#isOver = true;
    if (this.pause) this.#operation.resume(this, nameOf(release));
    this.#onEnd(release);
  }
}

const nameOf = (release: Release): 'sent' | 'probe' | 'expired' | 'dropped' => {
  if (typeof release === 'string') return release;
  return release.isProbe ? 'probe' : 'sent';
};
