import { cell } from '../experiments/experiment.ts';
import type { Scenario } from '../model/scenario.ts';
import type { PartialKind } from '../partial/partial-scenario.ts';

/** What is partly broken while a mechanism is off. */
export const partialOfAblation = [
  'widget hangs',
  'one hangs',
  'one 429, 30 s',
  '10 % errors',
  'mobile, shown offline',
] as const satisfies readonly PartialKind[];

const storm = (title: string, scenario: Partial<Scenario>) =>
  cell('steadfetch', title, scenario, 3);

/** The storms while a mechanism is off. */
export const stormsOfAblation = [
  storm('1,000 × 0.2, 503, load 0.7', {}),
  storm('1,000 × 0.2, hang, load 0.85', { kind: 'hang', load: 0.85, afterS: 110 }),
  storm('4,000 × 0.05, 503, load 0.7', { tabs: 4000, rate: 0.05 }),
  storm('Retry-After, load 0.7', { kind: 'retry-after' }),
  storm('limit of 2 s, hang, load 0.7', { kind: 'hang', timeoutS: 2 }),
] as const;
