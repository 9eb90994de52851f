import type { Clock } from '../lib/clock.ts';
import type { Engine } from './engine.ts';

/** A lock that nobody holds is granted long before. */
const grantMs = 500;
/** What is due so soon is waited for. */
const soonMs = 30_000;

/**
 * Sends what nobody else sends, as far as that can be done now.
 *
 * @returns whether something of it is left for later.
 */
export async function drainEngine({ ownership, worker }: Engine, clock: Clock): Promise<boolean> {
  const pass = (ms: number): Promise<void> =>
    new Promise((over) => void clock.setTimeout(over, ms));
  await ownership.look();
  await pass(grantMs);
  for (;;) {
    const waitMs = (await worker.whenIdle()) - clock.now();
    if (waitMs > soonMs) return waitMs < Infinity;
    await pass(Math.max(grantMs, waitMs));
  }
}
