import type { Leader } from '../tabs/leader.ts';
import type { Health, OriginHealth } from './health.ts';
import type { Network } from '../lib/network.ts';
import type { RateLimits } from './rate-limit.ts';
import type { SlowStart } from './slow-start.ts';
import { type Group, groupsOf, type Pause, type Target, type WaitQueue } from './wait-queue.ts';

/** What is known of one origin, and who waits for it. */
export interface Origin {
  readonly network: Network;
  readonly health: OriginHealth;
  readonly limits: RateLimits;
  readonly slowStart: SlowStart;
  readonly queue: WaitQueue;
  /** Undefined where there is no other tab. */
  readonly leader: Leader | undefined;
  /** One more attempt may be in flight. */
  readonly isPlaceFree: () => boolean;
}

/** What decides whether something may go. */
export type Place = Pick<Target, 'endpoint' | 'limitScope' | 'mayBeOffline'>;

/** Neither the network nor a limit keeps it back. */
const isAble = ({ network, limits }: Origin, { limitScope, mayBeOffline }: Place): boolean =>
  limits.until(limitScope) === -Infinity && (mayBeOffline || !network.isOffline());

/** Nothing but a free place, or a slow start, is waited for. */
export const isQueued = (origin: Origin, place: Place): boolean =>
  !origin.health.downFor(place.endpoint) && isAble(origin, place);

/** Those who may go but for what is down. */
export const ableGroups = (origin: Origin): readonly Group[] =>
  origin.queue.groups().filter((group) => isAble(origin, group));

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
