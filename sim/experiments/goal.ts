import type { Figures } from '../figures/figures.ts';
import type { Scenario } from '../model/scenario.ts';

/** What Steadfetch has shown in a cell. */
export interface Shown {
  /** The medians of the runs. */
  readonly figures: Figures;
  readonly runs: readonly Figures[];
  readonly scenario: Scenario;
  /** The same of React Query, where it was run, too. */
  readonly reactQuery: Figures | undefined;
}

/** What a figure of Steadfetch must be, in the cells that it is about. */
export interface Goal {
  readonly title: string;
  readonly experiments: readonly string[];
  readonly isAbout?: (scenario: Scenario) => boolean;
  readonly read: (shown: Shown) => number | null;
  readonly sense: 'at most' | 'at least';
  readonly limit: (shown: Shown) => number | null;
  /** What reaching it would cost the user, where it is not reached. */
  readonly cost?: string;
  readonly unit: 'times' | 'share' | 'seconds' | 'runs';
}
