import type { Figures } from '../figures/figures.ts';
import type { Scenario } from '../model/scenario.ts';

/** What a figure of Steadfetch must be, in the cells that it is about. */
export interface Goal {
  readonly title: string;
  readonly experiment: string;
  readonly isAbout?: (scenario: Scenario) => boolean;
  readonly read: (figures: Figures) => number | null;
  readonly sense: 'at most' | 'at least';
  readonly limit: (scenario: Scenario) => number;
  readonly unit: 'times' | 'share' | 'seconds';
}
