import type { Scenario } from '../model/scenario.ts';

/** How long what is wanted may be paused by default. */
const maxPauseS = 60;

/**
 * The share of what was asked during the outage that any policy can bring to a good end: new
 * requests go on arriving, so that only the rest of the capacity is left, for as long as what was
 * asked last may still wait; and what was asked too early has stopped waiting by recovery.
 */
export function spareCapacityBound({ tabs, rate, load, outageS }: Scenario): number {
  const perS = tabs * rate;
  const asked = perS * outageS;
  const waiting = perS * Math.min(outageS, maxPauseS);
  const spare = (perS / load - perS) * maxPauseS;
  return Math.min(waiting, spare) / asked;
}
