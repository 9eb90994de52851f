import type { Clock } from './clock.ts';

/** How long a function of the app is waited for. */
const limitMs = 30_000;

/** Settles as a function of the app does, or rejects after 30 s: it may never settle. `name` is for the message. */
export async function withLimit<T>(clock: Clock, name: string, work: () => T): Promise<Awaited<T>> {
  let timer: unknown;
  const late = new Promise<never>((_, giveUp) => {
    timer = clock.setTimeout(() => giveUp(new Error(`${name} has not settled for 30 s.`)), limitMs);
    clock.unref?.(timer);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clock.clearTimeout(timer);
  }
}
