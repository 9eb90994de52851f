import type { Clock } from './clock.ts';

/** How long a function of the app is waited for. */
const appLimitMs = 30_000;

/** Settles as a function of the app does, or rejects after 30 s: it may never settle. `name` is for the message. */
export async function withLimit<T>(clock: Clock, name: string, work: () => T): Promise<Awaited<T>> {
  let timer: unknown;
  const late = new Promise<never>((_, giveUp) => {
    timer = clock.setTimeout(
      () => giveUp(new Error(`${name} has not settled for 30 s.`)),
      appLimitMs,
    );
    clock.unref?.(timer);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clock.clearTimeout(timer);
  }
}

/** Looked at so often: after the machine has slept, one late look is not enough. */
const looks = 6;

/** The wait for something to have stood still for too long. */
interface Stillness {
  /** Resolves then. */
  readonly promise: Promise<void>;
  readonly stop: () => void;
}

/**
 * Waits until something has stood still for so long. `stillSince` says since when it does; undefined while
 * it does not.
 */
export function waitForStillness(
  clock: Clock,
  limitMs: number,
  stillSince: () => number | undefined,
): Stillness {
  let timer: unknown;
  const promise = new Promise<void>((resolve) => {
    let last = stillSince();
    let count = 0;
    const plan = (): void => {
      if (limitMs === Infinity) return;
      timer = clock.setTimeout(() => {
        const since = stillSince();
        count = since !== undefined && since === last ? count + 1 : 0;
        last = since;
        if (count === looks) resolve();
        else plan();
      }, limitMs / looks);
      clock.unref?.(timer);
    };
    plan();
  });
  return { promise, stop: () => clock.clearTimeout(timer) };
}
