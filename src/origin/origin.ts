import { checkNames, checkValue, isShare } from '../lib/input/check.ts';
import { checkMade, type MadeBy, code } from '../lib/input/made-by.ts';
import type { Leader } from '../tabs/leader.ts';
import type { Place, Target } from './ask.ts';
import type { HealthOptions, OriginHealth } from './health/health.ts';
import type { Latency } from './health/latency.ts';
import type { RateLimits } from './rate-limit.ts';
import type { SlowStart } from './slow-start.ts';
import type { WaitQueue } from './wait-queue.ts';
import type { SleepDetector } from '../lib/timer.ts';

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

/** What is known of one origin, and who waits for it. */
export interface Origin {
  readonly network: Network;
  readonly health: OriginHealth;
  readonly limits: RateLimits;
  readonly slowStart: SlowStart;
  readonly queue: WaitQueue;
  /** Undefined where there is no other tab. */
  readonly leader: Leader | undefined;
  readonly latency: Latency;
  readonly watchers: Set<Watcher>;
  readonly inFlight: Set<Target>;
  readonly maxInFlight: number;
}

/** No outage and no limit is known, and nothing waits for the end of one. */
export const isQuiet = ({ health, limits, queue, watchers }: Origin): boolean =>
  queue.size() === 0 && watchers.size === 0 && limits.known.size === 0 && !health.isAnyDown();

/** Something that has failed in an outage and is shown: it keeps probing, and is told of the end. */
export interface Watcher {
  readonly place: Place;
  /** Whether a user sees it now. */
  readonly isSeen: () => boolean;
  /** Fetches it again, as the probe. It watches no longer. */
  readonly probe: () => void;
  /** It is up again. It watches no longer. */
  readonly onBack: () => void;
}

/** The device's way to all origins, as a gate sees it. */
export interface Network {
  /** Nothing may go out that must leave the device. */
  readonly isOffline: () => boolean;
  /** When it is tried next, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: () => number | undefined;
  /** Calls the listener when any of this has changed, until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void;
  /** The browser says that there is none, which is a hint, and no request has been answered so far. */
  readonly isDoubtful: () => boolean;
  /** Calls the listener when there may be a network again, or another one, until the returned function is called. */
  readonly onBack: (listener: () => void) => () => void;
  readonly sleepDetector: SleepDetector;
}

/** How many attempts may be in flight at once, and wait for a place: a bulkhead. */
export interface ConcurrencyOptions {
  /** Attempts in flight: sent, and without headers yet. @default Infinity */
  readonly maxInFlight?: number | undefined;
  /** Attempts that wait for a place; one more is refused at once. @default Infinity */
  readonly maxQueued?: number | undefined;
  /** The longest wait for a place, in milliseconds. @default `maxPauseMs` */
  readonly queueTimeoutMs?: number | undefined;
}

/** What a concurrency limit brings. */
export interface ConcurrencyCode extends ConcurrencyOptions {
  readonly by: 'limitConcurrency';
}

/**
 * Limits how many attempts to each origin are in flight at once, for `concurrency` of the instance or
 * of an API with a `partition`.
 *
 * @throws TypeError when an option is not as it must be.
 *
 * @example
 * ```ts
 * const few = createSteadfetch({ concurrency: limitConcurrency({ maxInFlight: 8 }) });
 * ```
 */
export function limitConcurrency(options: ConcurrencyOptions): MadeBy<'limitConcurrency'> {
  const operation = 'limitConcurrency';
  if (process.env.NODE_ENV !== 'production')
    checkNames(operation, options, ['maxInFlight', 'maxQueued', 'queueTimeoutMs']);
  const number = (name: keyof ConcurrencyOptions, least: number): number | undefined =>
    checkValue(
      operation,
      name,
      options[name],
      (value) => typeof value === 'number' && value >= least,
      process.env.NODE_ENV !== 'production' && `a number from ${least} to Infinity`,
    );
  const made: ConcurrencyCode = {
    by: operation,
    maxInFlight: number('maxInFlight', 1),
    maxQueued: number('maxQueued', 0),
    queueTimeoutMs: number('queueTimeoutMs', 0),
  };
  return { [code]: made };
}
