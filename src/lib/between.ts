import type { Random } from './clock.ts';

/** A uniformly random number between two numbers. */
export function between(random: Random, least: number, most: number): number {
  return least + (most - least) * random();
}
