import { checkMade, type MadeBy } from '../lib/made-by.ts';
import { checkNames, checkValue, isShare } from '../lib/check.ts';
import type { HealthOptions } from './health.ts';

/** How an origin is treated. */
export interface OriginOptions {
  /** When an endpoint or the origin is taken for down; `false`: never. @default consecutive failures that chance would hardly explain */
  readonly health?: HealthOptions | false | undefined;
  /** How many attempts to one origin are in flight at once. @default no limit */
  readonly concurrency?: MadeBy<'limitConcurrency'> | undefined;
  /** Whether the tabs of a browser share what they know of an origin, and one of them probes for all. @default each tab by itself */
  readonly tabs?: MadeBy<'shareAcrossTabs'> | undefined;
}

/** @throws TypeError that names the operation, the option, its value and the allowed range. */
export function checkOrigin(
  operation: string,
  { health, tabs, concurrency }: OriginOptions,
): OriginOptions {
  return {
    health: health && checkHealth(`${operation}: health`, health),
    tabs: checkMade(operation, 'tabs', tabs, 'shareAcrossTabs'),
    concurrency: checkMade(operation, 'concurrency', concurrency, 'limitConcurrency'),
  };
}

function checkHealth(operation: string, health: HealthOptions): HealthOptions {
  if (process.env.NODE_ENV !== 'production') checkNames(operation, health, ['maxChance']);
  const allowed = process.env.NODE_ENV !== 'production' && 'a number from 0 to 1';
  return { maxChance: checkValue(operation, 'maxChance', health.maxChance, isShare, allowed) };
}
