import type { Clock } from '../lib/clock.ts';

/** It is tried so often, a second later and then twice as late. */
const tries = 5;

/**
 * Writes an end, and again where that fails: what has happened has happened. Resolves with undefined
 * where the store is no longer used.
 */
export async function writeEnd<T>(
  clock: Clock,
  write: () => Promise<T>,
  isOver: () => boolean,
  onError: (error: unknown) => void,
): Promise<T | undefined> {
  for (let left = tries; ; left -= 1) {
    try {
      return await write();
    } catch (error) {
      // The database is gone: what has become of the row is all the same known.
      if (isOver()) return undefined;
      if (left === 1) throw error;
      onError(error);
      await new Promise<void>((over) => {
        clock.setTimeout(over, 1000 * 2 ** (tries - left));
      });
    }
  }
}
