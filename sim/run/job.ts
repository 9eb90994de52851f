import type { Figures } from '../figures/figures.ts';
import type { Scenario } from '../model/scenario.ts';
import type { PolicyName } from '../policies/by-name.ts';
import type { TabContext } from '../policies/policy.ts';

/** One run, as it is sent to a worker. */
export interface Job {
  readonly policy: PolicyName;
  readonly scenario: Scenario;
  readonly config?: TabContext['config'];
  /** Whether the picture of it is wanted, too. */
  readonly wantsSeries?: boolean;
}

/** What a worker answers. */
export interface JobResult {
  readonly figures: Figures;
  /** Requests that arrived in each 100 ms since the start. */
  readonly series: readonly number[] | undefined;
}
