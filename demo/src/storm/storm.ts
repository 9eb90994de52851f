import type { Figures } from '../../../sim/figures/figures.ts';
import type { StormSecond } from '../../../sim/lab/lab-storm.ts';
import type { Scenario } from '../../../sim/model/scenario.ts';
import type { PolicyName } from '../../../sim/policies/by-name.ts';

export type { PolicyName, Scenario };

/** One policy in a storm, as far as it has been run. */
export interface Run {
  readonly policy: PolicyName;
  readonly seconds: readonly StormSecond[];
  /** Absent until the run is over. */
  readonly figures?: Figures | undefined;
}

/** A rival and Steadfetch in the same storm. */
export interface Storm {
  readonly scenario: Scenario;
  readonly runs: readonly [rival: Run, steadfetch: Run];
}

/** How much of a storm is shown before its outage. */
const shownBeforeS = 10;

/** The seconds of a storm that are drawn, and those of the outage. */
export interface Span {
  readonly fromS: number;
  readonly outageS: number;
  readonly recoveryS: number;
  readonly toS: number;
}

export function spanOf({ warmUpS, outageS, afterS }: Scenario): Span {
  const recoveryS = warmUpS + outageS;
  return { fromS: warmUpS - shownBeforeS, outageS: warmUpS, recoveryS, toS: recoveryS + afterS };
}

/** How much of it has been run with both. */
export const reachedS = ({ runs }: Storm): number =>
  Math.min(...runs.map(({ seconds }) => seconds.length));

/** What users ask for in a second, and what the server can answer in one. */
export const neededPerS = ({ tabs, rate }: Scenario): number => tabs * rate;
export const capacityPerS = (scenario: Scenario): number => neededPerS(scenario) / scenario.load;

/** What the counters say at a time; what is not known yet is undefined. */
export interface Counts {
  /** Requests that arrived while the server was down. */
  readonly sent: number;
  /** Of what was asked for while it was down. */
  readonly asked: number;
  readonly answered: number;
  readonly waiting: number;
  readonly failed: number;
  readonly left: number;
  /** Seconds after recovery until 99 % are answered within a second; null: not in this run. */
  readonly promptAfterS: number | null | undefined;
}

export function countsAt(
  { seconds, figures }: Run,
  { outageS, recoveryS, toS }: Span,
  atS: number,
): Counts {
  const whole = Math.floor(atS);
  const sent = seconds
    .slice(outageS, Math.min(recoveryS, whole))
    .reduce((sum, second) => sum + second.sent, 0);
  const last = seconds[Math.min(whole, seconds.length) - 1];
  const promptFromS = figures?.promptFromS;
  const isKnown = promptFromS != null && atS >= recoveryS + promptFromS;
  const isNever = promptFromS === null && atS >= toS;
  const { asked = 0, answered = 0, failed = 0, left = 0 } = last ?? {};
  return {
    sent,
    asked,
    answered,
    waiting: asked - answered - failed - left,
    failed,
    left,
    promptAfterS: isKnown || isNever ? promptFromS : undefined,
  };
}
