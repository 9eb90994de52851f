import type { Random } from '../lib/clock.ts';

/** Drawn uniformly between two numbers. */
export function between(random: Random, least: number, most: number): number {
  return least + (most - least) * random();
}
