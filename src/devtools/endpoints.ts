import {
  everything,
  groupsOf,
  leastRate,
  whenProbed,
  type Health,
  type Origin,
} from '../core/internal.ts';

/** The state of one endpoint. Only endpoints that failed, waited or have a usual latency are listed. */
export interface InspectedEndpoint {
  /** Method and folded path, or the name from its API's profile. */
  readonly endpoint: string;
  readonly status: 'up' | 'recovering' | 'down' | 'rate-limited';
  /** When it went down, in epoch milliseconds; undefined while it is up. */
  readonly downSince: number | undefined;
  /** When it is next probed, or accepts requests again, in epoch milliseconds; undefined when not known. */
  readonly retryAt: number | undefined;
  readonly probedBy: 'this-tab' | 'another-tab' | undefined;
  /** The number of attempts that wait for it. */
  readonly waiting: number;
  /** The number of failures since its last success. */
  readonly failures: number;
  /** The number of further failures in a row that would take it down; undefined if it is never taken down. */
  readonly failuresUntilDown: number | undefined;
  /** The usual share of its requests that fail, from 0 to 1; undefined when not known. */
  readonly usualFailureRatio: number | undefined;
  /** The usual time to its headers, in milliseconds; undefined if it is never slow. */
  readonly usualLatencyMs: number | undefined;
}

/** The known endpoints, those that are down first. */
export function endpointsOf(
  origin: Origin,
  onWall: (at: number | undefined) => number | undefined,
): readonly InspectedEndpoint[] {
  const { health, latency, limits, queue, slowStart } = origin;
  const [all, ...failed] = health.all();
  const byName = new Map(failed.map((one) => [one.scope, one]));
  const waiting = new Map<string, number>();
  /** The limit of a waiting endpoint may be that of its API. */
  const scopes = new Map<string, string>();
  for (const { shared, waiters } of queue.groups()) {
    waiting.set(shared.endpoint, (waiting.get(shared.endpoint) ?? 0) + waiters.length);
    scopes.set(shared.endpoint, shared.limitScope);
  }
  const names = new Set([...byName.keys(), ...waiting.keys(), ...latency.usual.keys()]);
  const isAllDown = !!all?.outage;
  const endpoints = [...names].map((endpoint): InspectedEndpoint => {
    const own = byName.get(endpoint);
    const isDown = !!own?.outage;
    const isOut = isDown || isAllDown;
    // Where the whole origin is down, that is probed instead.
    const isProbed = isDown && !isAllDown;
    const limitedUntil = limits.until({ limitScope: scopes.get(endpoint) ?? endpoint });
    const probeAt = own && isProbed ? whenProbed(origin, own).retryAt : undefined;
    const usualLatencyMs = latency.usual.get(endpoint);
    return {
      endpoint,
      status: statusOf(isOut, limitedUntil > 0, slowStart.isUnderWay(endpoint)),
      downSince: onWall(own?.outage?.since),
      retryAt: onWall(isDown ? probeAt : limitedUntil),
      probedBy: isProbed ? probedBy(origin, endpoint) : undefined,
      waiting: waiting.get(endpoint) ?? 0,
      failures: own?.failures ?? 0,
      failuresUntilDown: isOut ? undefined : untilDown(own, health.maxChance),
      usualFailureRatio: own?.usualRate,
      usualLatencyMs: usualLatencyMs === undefined ? undefined : Math.round(usualLatencyMs),
    };
  });
  const isUp = ({ status }: InspectedEndpoint): number => (status === 'up' ? 1 : 0);
  return endpoints.sort((one, other) => isUp(one) - isUp(other));
}

function statusOf(
  isDown: boolean,
  isLimited: boolean,
  isRecovering: boolean,
): InspectedEndpoint['status'] {
  if (isDown) return 'down';
  if (isLimited) return 'rate-limited';
  return isRecovering ? 'recovering' : 'up';
}

/** The tab that probes it; undefined if no request waits for it. */
export function probedBy(
  { leader, queue }: Origin,
  scope: string,
): 'this-tab' | 'another-tab' | undefined {
  if (leader?.isElsewhere(scope)) return 'another-tab';
  return groupsOf(scope, queue.groups()).length > 0 ? 'this-tab' : undefined;
}

/** The largest number of failures that is counted. */
const mostFailures = 200;

/** How many more failures in a row make an outage, by the rule of `Health.recordFailure`. */
function untilDown(health: Health | undefined, maxChance: number): number | undefined {
  if (maxChance <= 0 || health?.scope === everything) return undefined;
  const { usualRate = 0, failures = 0 } = health ?? {};
  const rate = Math.max(usualRate, leastRate);
  for (let count = 1; count <= mostFailures; count++)
    if (rate ** count <= maxChance) return Math.max(1, count - failures);
  return undefined;
}
