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

/**
 * How long it takes, beside others: every tab costs, and so does every operation that waits while
 * the server is out.
 */
export function costOf({ scenario: { tabs, rate, outageS, afterS } }: Job): number {
  return tabs * (1 + rate * (outageS + afterS));
}

/** What a worker answers. */
export interface JobResult {
  readonly figures: Figures;
  /** Requests that arrived in each 100 ms since the start. */
  readonly series: readonly number[] | undefined;
}
