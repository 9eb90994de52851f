import { defaultScenario, type Scenario } from '../model/scenario.ts';
import type { PolicyName } from '../policies/by-name.ts';

/** One line of a table: a policy in a scenario, run with several seeds. */
export interface Cell {
  readonly policy: PolicyName;
  readonly title: string;
  /** Its seed is the first one. */
  readonly scenario: Scenario;
  readonly seeds: number;
}

/** Cells that belong together. */
export interface Experiment {
  readonly name: string;
  readonly title: string;
  readonly cells: readonly Cell[];
}

/** A cell whose scenario is the usual one, but for some changes. */
export const cell = (
  policy: PolicyName,
  title: string,
  scenario: Partial<Scenario>,
  seeds: number,
): Cell => ({ policy, title, scenario: { ...defaultScenario, ...scenario }, seeds });
