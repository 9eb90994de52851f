import { type Cell, cell } from '../experiments/experiment.ts';
import type { Scenario } from '../model/scenario.ts';

/** At half the size, and so at half the cost, of what the figures show. */
const storm = (title: string, scenario: Partial<Scenario>): Cell =>
  cell('steadfetch', title, { tabs: 500, ...scenario }, 1);

/** The storms that variants are measured in: 30 s each. */
export const busy = storm('500 × 0.2, 503, load 0.7', {});
export const nearLimit = storm('500 × 0.2, hang, load 0.85', {
  kind: 'hang',
  load: 0.85,
  afterS: 110,
});
export const quiet = storm('2,000 × 0.05, 503, load 0.7', { tabs: 2000, rate: 0.05 });
export const quietest = storm('10,000 × 0.01, 503, load 0.7', { tabs: 10_000, rate: 0.01 });
export const told = storm('Retry-After, load 0.7', { kind: 'retry-after' });
export const inBackground = storm('background, 503, load 0.7', { background: 1 });
export const stress = storm('limit of 2 s, hang, load 0.7', { kind: 'hang', timeoutS: 2 });
