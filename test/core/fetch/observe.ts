import { vi } from 'vitest';

/** What a promise rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  let value: unknown;
  try {
    value = await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`It resolved with ${String(value)}, and should have rejected.`);
}

/** What has become of a promise so far. */
export interface Observed {
  state: 'pending' | 'resolved' | 'rejected';
  value?: unknown;
  error?: unknown;
}

export function observe(promise: Promise<unknown>): Observed {
  const observed: Observed = { state: 'pending' };
  promise.then(
    (value) => Object.assign(observed, { state: 'resolved', value }),
    (error: unknown) => Object.assign(observed, { state: 'rejected', error }),
  );
  return observed;
}

/** Fakes what the wrapper reads of time, and leaves the event loop alone. */
export function fakeTime(): void {
  vi.useFakeTimers({
    now: 1_800_000_000_000,
    toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'],
  });
}

/** Lets everything happen that needs no time. */
export async function settled(): Promise<void> {
  await vi.advanceTimersByTimeAsync(0);
}
