import type { Random } from '../../src/index.ts';
import { seededRandom } from '../../src/testing/seeded-random.ts';

/**
 * The randomness of one part of a run. Each has its own, so that two policies meet the same
 * arrivals and differ in nothing but what they do.
 */
export function randomStream(seed: number, part: string): Random {
  let hash = Math.imul(seed, 0x9e3779b1);
  for (const letter of part) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return seededRandom(hash >>> 0);
}
