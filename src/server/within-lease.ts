import { maxTimerMs, systemClock } from '../lib/clock.ts';

/**
 * Gives up work that takes longer than its lease: nobody waits for it for ever, and others may run.
 *
 * @throws Error that names `leaseMs`, when it is over; and what the work throws.
 */
export async function withinLease<T>(leaseMs: number, work: () => Promise<T>): Promise<T> {
  let timer: unknown;
  const isOver = new Promise<never>((_, fail) => {
    const giveUp = (): void => fail(new Error(leaseOver(leaseMs)));
    timer = systemClock.setTimeout(giveUp, Math.min(leaseMs, maxTimerMs));
  });
  try {
    return await Promise.race([work(), isOver]);
  } finally {
    systemClock.clearTimeout(timer);
  }
}

const leaseOver = (leaseMs: number): string =>
  `idempotent: the handler gave no answer within leaseMs, ${leaseMs} ms. It is rolled back, and its ` +
  `key is free again.`;
