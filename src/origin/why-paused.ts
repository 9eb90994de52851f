import type { Health } from './health.ts';
import { ableGroups, type Origin, type Place } from './origin.ts';
import { type Group, groupsOf, type Pause } from './wait-queue.ts';

/** What is shown of the next probe: nothing while one is under way, or nobody in these groups waits for it. */
export function whenProbed(
  { leader }: Origin,
  { scope, probes, probeAt }: Health,
  groups: readonly Group[],
): Pick<Pause, 'retryAt' | 'probedBy'> {
  if (leader?.isElsewhere(scope)) return { retryAt: undefined, probedBy: 'another-tab' };
  const isDue = !probes.isProbing() && groupsOf(scope, groups).length > 0;
  return { retryAt: isDue ? probeAt : undefined };
}

/** Why something waits there, and until when: a time at which something is sent, or none. */
export function whyPaused(origin: Origin, { endpoint, limitScope }: Place): Pause {
  const { network, limits, health, slowStart, queue } = origin;
  // The origin itself is not to blame for a device that is offline.
  if (network.isOffline()) return { reason: 'offline', retryAt: network.retryAt() };
  const limited = limits.until(limitScope);
  const down = health.downFor(endpoint);
  if (limited > -Infinity) {
    // In a slow start nobody knows who goes when.
    let retryAt = slowStart.isUnderWay(endpoint) ? undefined : limited;
    // What is down as well is probed after both.
    if (down) {
      const { retryAt: probeAt } = whenProbed(origin, down, queue.groups());
      retryAt = probeAt && Math.max(limited, probeAt);
    }
    return { reason: 'rate-limited', retryAt };
  }
  // Nobody knows who goes when.
  if (!down) return { reason: 'queued', retryAt: undefined };
  return { reason: 'server-down', ...whenProbed(origin, down, ableGroups(origin)) };
}
