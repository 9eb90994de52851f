import type { Random } from '../core/lib/clock.ts';
import { requireWhole } from '../core/lib/input/check.ts';

/**
 * Creates a repeatable source of randomness: the same seed gives the same numbers in [0, 1) on every machine.
 * Use it in place of `Math.random`.
 *
 * The generator is mulberry32 (Tommy Ettinger, 2017, public domain): a counter of 32 bits whose
 * every step is hashed, so that seeds 1, 2 and 3 differ from their first number on. Its period is
 * 2^32. It is for tests only: its numbers can be predicted.
 *
 * @param seed - A whole number from 0 to 2^32 - 1.
 * @throws TypeError if the seed is anything else.
 * @see https://gist.github.com/tommyettinger/46a874533244883189143505d203312c
 *
 * @example
 * ```ts
 * import { seededRandom } from 'steadfetch/testing';
 *
 * const random = seededRandom(1);
 * random(); // 0.6270739405881613
 * random(); // 0.002735721180215478
 * ```
 */
export function seededRandom(seed: number): Random {
  requireSeed('seededRandom', seed);
  let counter = seed;
  return () => {
    counter = (counter + 0x6d2b79f5) | 0;
    let hash = counter;
    hash = Math.imul(hash ^ (hash >>> 15), hash | 1);
    hash ^= hash + Math.imul(hash ^ (hash >>> 7), hash | 61);
    return ((hash ^ (hash >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @throws TypeError unless the seed fits a generator of 32 bits. */
export function requireSeed(operation: string, seed: number): void {
  requireWhole(operation, 'seed', seed, { min: 0, max: 2 ** 32 - 1 });
}
