import type { Leader } from '../tabs/leader.ts';
import type { OriginHealth } from './health.ts';
import type { Network } from '../lib/network.ts';
import type { RateLimits } from './rate-limit.ts';
import type { SlowStart } from './slow-start.ts';
import type { Group, Target, WaitQueue } from './wait-queue.ts';

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
