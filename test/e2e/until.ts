import type { Page } from 'playwright';
import { expect } from 'vitest';

declare global {
  interface Window {
    /** The timers that are due within a millisecond: React Query tells its news in such. */
    readonly dueTimers: ReadonlySet<unknown>;
  }
}

/** Looks at the page until it sees this. */
export type Witness = <T>(look: () => Promise<T>, wanted: T) => Promise<void>;

/**
 * Time passes between two looks only where something is due at once, however long the machine takes for
 * what needs no time; or `stepMs`, where it is given.
 */
export function createWitness(page: Page, stepMs?: number): Witness {
  const wait = async (): Promise<void> => {
    const isDue = await page.evaluate(() => window.dueTimers.size > 0);
    if (stepMs !== undefined) await page.clock.runFor(stepMs);
    else if (isDue) await page.clock.runFor(1);
  };
  return async (look, wanted) => {
    const text = JSON.stringify(wanted);
    await expect
      .poll(
        async () => {
          // What was seen was there, whatever comes of it before a second look.
          const seen = await look();
          if (JSON.stringify(seen) !== text) await wait();
          return seen;
        },
        { interval: 1 },
      )
      .toEqual(wanted);
  };
}

/** Runs in the page, before its scripts: knows which timers are due at once. */
export function watchTimers(): void {
  const due = new Set<unknown>();
  const { setTimeout: start, clearTimeout: stop } = window;
  Object.assign(window, {
    dueTimers: due,
    setTimeout(callback: (...given: unknown[]) => void, delayMs = 0, ...given: unknown[]) {
      if (delayMs > 1) return start(callback, delayMs, ...given);
      const timer = start(() => {
        due.delete(timer);
        callback(...given);
      }, delayMs);
      due.add(timer);
      return timer;
    },
    clearTimeout(timer: number) {
      due.delete(timer);
      stop(timer);
    },
  });
}
