import { inDevelopment } from '../lib/development.ts';
import { checkNames, checkValue, isShare } from '../lib/input/check.ts';
import { checkMade, type MadeBy, code } from '../lib/input/made-by.ts';
import type { Leader } from '../tabs/leader.ts';
import type { Place, Target } from './ask.ts';
import type { HealthOptions, OriginHealth } from './health/health.ts';
import type { Latency } from './health/latency.ts';
import type { LateRead } from './late-read.ts';
import type { RateLimits } from './limits/rate-limits.ts';
import type { SlowStart } from './slow-start.ts';
import type { Refusals, WaitQueue } from './wait-queue.ts';
import type { SleepDetector } from '../lib/timer.ts';

/** The options of every origin. */
export interface OriginOptions {
  /** When an endpoint or the origin counts as down; `false`: never. @default after failures in a row that are unlikely to be chance */
  readonly health?: HealthOptions | false | undefined;
  /** The limit of simultaneous attempts to one origin. @default no limit */
  readonly concurrency?: MadeBy<'limitConcurrency'> | undefined;
  /** Whether the tabs of a browser share the health of origins, and one tab probes for all. @default each tab for itself */
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
  inDevelopment(() => checkNames(operation, health, ['maxChance']));
  const allowed = inDevelopment(() => 'a number from 0 to 1');
  return { maxChance: checkValue(operation, 'maxChance', health.maxChance, isShare, allowed) };
}

/** The parts of one origin's admission. */
export interface Origin {
  readonly network: Network;
  readonly health: OriginHealth;
  readonly limits: RateLimits;
  readonly slowStart: SlowStart;
  readonly queue: WaitQueue;
  readonly refusals: Refusals;
  /** Undefined unless tabs share. */
  readonly leader: Leader | undefined;
  readonly latency: Latency;
  readonly watchers: Set<Watcher>;
  /** The permits whose headers are still to come. */
  readonly inFlight: Set<{ readonly target: Target }>;
  readonly maxInFlight: number;
  /** The reads that were given up because they are late, and whose answers may still be used. */
  readonly late: Set<LateRead>;
}

/** Whether there is no outage, no limit and nothing that waits. */
export const isQuiet = ({ health, limits, queue, watchers }: Origin): boolean =>
  queue.size === 0 && watchers.size === 0 && limits.known.size === 0 && !health.isAnyDown();

/** A shown failure of an outage: it is fetched again as a probe, or when the outage ends. */
export interface Watcher {
  readonly place: Place;
  /** Whether a user sees it now. */
  readonly isSeen: () => boolean;
  /** Until then the user waits for it, as for a spinner: where a page shows the failure in place of its data. */
  readonly awaitedUntil: () => number;
  /** Fetches it again, as the probe. The watcher is removed first. */
  readonly probe: () => void;
  /** Called when the outage ends. The watcher is removed first. */
  readonly onBack: () => void;
}

/** The network of the device, as the admissions see it. */
export interface Network {
  /** Whether requests that need a network are held back. */
  readonly isOffline: () => boolean;
  /** When the network is checked next, in epoch milliseconds; undefined when not known. */
  readonly retryAt: () => number | undefined;
  /** Calls the listener at each change of these, until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Whether the browser says offline, which is only a hint, and no answer has refuted it. */
  readonly isDoubtful: () => boolean;
  /** Calls the listener when the network may be back, or has changed, until the returned function is called. */
  readonly onBack: (listener: () => void) => () => void;
  readonly sleepDetector: SleepDetector;
}

/** A concurrency limit (bulkhead). */
export interface ConcurrencyOptions {
  /** The number of attempts in flight: sent, with headers still to come. @default Infinity */
  readonly maxInFlight?: number | undefined;
  /** The number of attempts that wait for a slot. Further attempts fail at once. @default Infinity */
  readonly maxQueued?: number | undefined;
  /** The longest wait for a slot, in milliseconds. @default `maxPauseMs` */
  readonly queueTimeoutMs?: number | undefined;
}

/** The code of a concurrency limit. */
export interface ConcurrencyCode extends ConcurrencyOptions {
  readonly by: 'limitConcurrency';
}

/**
 * Limits the simultaneous attempts to each origin, for `concurrency` of the instance or of an API with a
 * `partition`.
 *
 * @throws TypeError for an invalid option.
 *
 * @example
 * ```ts
 * const few = createSteadfetch({ concurrency: limitConcurrency({ maxInFlight: 8 }) });
 * ```
 */
export function limitConcurrency(options: ConcurrencyOptions): MadeBy<'limitConcurrency'> {
  const operation = 'limitConcurrency';
  inDevelopment(() =>
    checkNames(operation, options, ['maxInFlight', 'maxQueued', 'queueTimeoutMs']),
  );
  const number = (name: keyof ConcurrencyOptions, least: number): number | undefined =>
    checkValue(
      operation,
      name,
      options[name],
      (value) => typeof value === 'number' && value >= least,
      inDevelopment(() => `a number from ${least} to Infinity`),
    );
  const made: ConcurrencyCode = {
    by: operation,
    maxInFlight: number('maxInFlight', 1),
    maxQueued: number('maxQueued', 0),
    queueTimeoutMs: number('queueTimeoutMs', 0),
  };
  return { [code]: made };
}
