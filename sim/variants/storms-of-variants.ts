import { type Cell, cell } from '../experiments/experiment.ts';
import type { Scenario } from '../model/scenario.ts';

/** At half the size, and so at half the cost, of what the figures show. */
const storm = (title: string, scenario: Partial<Scenario>): Cell =>
  cell('steadfetch', title, { tabs: 500, ...scenario }, 1);

const quietTabs = { tabs: 1000, rate: 0.05 } as const;
const quietestTabs = { tabs: 2500, rate: 0.01 } as const;

/** The storms that variants are measured in: 30 s each. */
export const busy = storm('500 × 0.2, 503, load 0.7', {});
export const nearLimit = storm('500 × 0.2, hang, load 0.85', {
  kind: 'hang',
  load: 0.85,
  afterS: 110,
});
export const quiet = storm('1,000 × 0.05, 503, load 0.7', quietTabs);
export const quietest = storm('2,500 × 0.01, 503, load 0.7', quietestTabs);
export const told = storm('Retry-After, load 0.7', { kind: 'retry-after' });
export const inBackground = storm('background, 503, load 0.7', { background: 1 });
export const pageLoads = storm('page loads, 503, load 0.85', {
  tabs: 250,
  pageSize: 6,
  leaveS: 20,
  load: 0.85,
  afterS: 110,
});
export const stress = storm('limit of 2 s, hang, load 0.7', { kind: 'hang', timeoutS: 2 });

/** Work that is declared background, in outages whose tabs ask seldom; and one that hangs. */
export const quietInBackground = storm('background, 1,000 × 0.05, 503', {
  ...quietTabs,
  background: 1,
});
export const quietestInBackground = storm('background, 2,500 × 0.01, 503', {
  ...quietestTabs,
  background: 1,
});
export const hangInBackground = storm('background, 1,000 × 0.2, hang', {
  tabs: 1000,
  kind: 'hang',
  background: 1,
});

/** Where it is decided under a limit of 2 s whether the server comes back, at the whole size. */
export const shortWarmUp = storm('limit of 2 s, 1,000 × 0.2, 503, after 20 s', {
  tabs: 1000,
  warmUpS: 20,
  afterS: 60,
  timeoutS: 2,
});
export const wholeNearLimit = storm('1,000 × 0.2, 503, load 0.85', {
  tabs: 1000,
  load: 0.85,
  afterS: 110,
});
