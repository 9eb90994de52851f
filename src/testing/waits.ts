import { systemClock } from '../lib/clock.ts';

/** The requests that a fault keeps waiting. */
export interface Waits {
  /**
   * Waits for a time, or without one for ever. Resolves with true when the time is over, with
   * false as soon as the request is aborted or all waits are ended.
   */
  readonly wait: (signal: AbortSignal, delayMs?: number) => Promise<boolean>;
  /** Ends all waits that are left. */
  readonly endAll: () => void;
}

export function createWaits(): Waits {
  const ends = new Set<(elapsed: boolean) => void>();
  return {
    wait: (signal, delayMs) =>
      new Promise((resolve) => {
        const giveUp = (): void => end(false);
        const timer =
          delayMs === undefined ? undefined : systemClock.setTimeout(() => end(true), delayMs);
        const end = (elapsed: boolean): void => {
          ends.delete(end);
          systemClock.clearTimeout(timer);
          signal.removeEventListener('abort', giveUp);
          resolve(elapsed);
        };
        ends.add(end);
        signal.addEventListener('abort', giveUp);
        if (signal.aborted) giveUp();
      }),
    endAll: () => {
      for (const end of ends) end(false);
    },
  };
}
