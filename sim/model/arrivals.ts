import type { Random } from '../../src/index.ts';
import type { Simulation } from '../engine/simulation.ts';

/**
 * Lets somebody ask again and again, at random: the Poisson processes of all tabs together are one,
 * whose every event belongs to any of them.
 */
export function startArrivals(
  simulation: Simulation,
  { tabs, rate }: { readonly tabs: number; readonly rate: number },
  random: Random,
  ask: (tab: number) => void,
): void {
  const meanMs = 1000 / (tabs * rate);
  const next = (): void => {
    const gapMs = -Math.log(1 - random()) * meanMs;
    simulation.at(simulation.nowMs() + gapMs, () => {
      next();
      ask(Math.floor(random() * tabs));
    });
  };
  next();
}
