import { type Health, leastRate } from '../origin/health/endpoint-health.ts';
import { whenProbed } from '../origin/gates.ts';
import type { Origin } from '../origin/origin.ts';
import { everything, groupsOf } from '../origin/wait-queue.ts';

/** What is known of one endpoint. Of one that has never failed, or waited, nothing is. */
export interface InspectedEndpoint {
  /** Method and folded path, or what its API calls it. */
  readonly endpoint: string;
  readonly status: 'up' | 'recovering' | 'down' | 'rate-limited';
  /** Since when it is taken for down, in epoch milliseconds; undefined while it is not. */
  readonly downSince: number | undefined;
  /** When it is probed next, or takes requests again, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: number | undefined;
  readonly probedBy: 'this-tab' | 'another-tab' | undefined;
  /** Attempts that wait for it. */
  readonly waiting: number;
  /** Its failures since its last good answer. */
  readonly failures: number;
  /** As many more failures in a row, and it is taken for down; undefined where that is not done. */
  readonly failuresUntilDown: number | undefined;
  /** The share of its requests that fail as a rule, from 0 to 1; undefined when it is not known. */
  readonly usualFailureRatio: number | undefined;
  /** How long its answers take as a rule, in milliseconds; undefined for what is never slow. */
  readonly usualLatencyMs: number | undefined;
}

/** The endpoints that something is known of, those that are down first. */
export function endpointsOf(
  origin: Origin,
  onWall: (at: number | undefined) => number | undefined,
): readonly InspectedEndpoint[] {
  const { health, latency, limits, queue, slowStart } = origin;
  const [all, ...failed] = health.all();
  const byName = new Map(failed.map((one) => [one.scope, one]));
  const waiting = new Map<string, number>();
  for (const { shared, waiters } of queue.groups())
    waiting.set(shared.endpoint, (waiting.get(shared.endpoint) ?? 0) + waiters.length);
  const names = new Set([...byName.keys(), ...waiting.keys(), ...latency.usual.keys()]);
  const isAllDown = all?.downSince !== undefined;
  const endpoints = [...names].map((endpoint): InspectedEndpoint => {
    const own = byName.get(endpoint);
    const isDown = own?.downSince !== undefined;
    const limitedUntil = limits.until(endpoint);
    const probeAt = own && isDown && !isAllDown ? whenProbed(origin, own).retryAt : undefined;
    const usualLatencyMs = latency.usual.get(endpoint);
    return {
      endpoint,
      status:
        isDown || isAllDown
          ? 'down'
          : limitedUntil > 0
            ? 'rate-limited'
            : slowStart.isUnderWay(endpoint)
              ? 'recovering'
              : 'up',
      downSince: onWall(own?.downSince),
      retryAt: onWall(isDown ? probeAt : limitedUntil),
      probedBy: isDown && !isAllDown ? probedBy(origin, endpoint) : undefined,
      waiting: waiting.get(endpoint) ?? 0,
      failures: own?.failures ?? 0,
      failuresUntilDown: isDown || isAllDown ? undefined : untilDown(own, health.maxChance),
      usualFailureRatio: own?.usualRate,
      usualLatencyMs: usualLatencyMs === undefined ? undefined : Math.round(usualLatencyMs),
    };
  });
  const isUp = ({ status }: InspectedEndpoint): number => (status === 'up' ? 1 : 0);
  return endpoints.toSorted((one, other) => isUp(one) - isUp(other));
}

/** Which tab probes it: nobody does where nobody waits. */
export function probedBy(
  { leader, queue }: Origin,
  scope: string,
): 'this-tab' | 'another-tab' | undefined {
  if (leader?.isElsewhere(scope)) return 'another-tab';
  return groupsOf(scope, queue.groups()).length > 0 ? 'this-tab' : undefined;
}

/** More failures than this nobody counts. */
const mostFailures = 200;

/** How many more failures in a row are an outage, by the rule of `createHealth`. */
function untilDown(health: Health | undefined, maxChance: number): number | undefined {
  if (maxChance <= 0 || health?.scope === everything) return undefined;
  const { usualRate = 0, failures = 0 } = health ?? {};
  const rate = Math.max(usualRate, leastRate);
  for (let count = 1; count <= mostFailures; count++)
    if (rate ** count <= maxChance) return Math.max(1, count - failures);
  return undefined;
}
