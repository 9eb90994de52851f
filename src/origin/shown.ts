import type { Readable } from '../lib/store.ts';
import type { Leader } from '../tabs/leader.ts';
import type { Network } from './network.ts';
import type { Down, Probing } from './probing.ts';
import type { RateLimits } from './rate-limit.ts';
import type { SlowStart } from './slow-start.ts';
import { createStatus, type OriginState } from './status.ts';
import { everything, type Vitals } from './vitals.ts';
import type { Pause, Target, WaitQueue } from './wait-queue.ts';

/** What a user is told: how the origin is, and why something waits. */
export interface Shown extends Readable<OriginState> {
  /** Why something waits there, and until when as far as is known. */
  readonly whyPaused: (place: Pick<Target, 'endpoint' | 'limitScope'>) => Pause;
  /** Something may have changed: whoever waits is told, and who watches the origin. */
  readonly update: () => void;
}

interface Parts<P> {
  readonly network: Network;
  readonly limits: RateLimits;
  readonly vitals: Pick<Vitals, 'down' | 'downFor' | 'isOnlyOne'>;
  readonly slowStart: SlowStart;
  readonly leader: Leader;
  readonly probing: Probing<P>;
  readonly queue: WaitQueue<P>;
}

/** What is shown is true: a time at which something is sent, or none. */
export function createShown<P>(parts: Parts<P>): Shown {
  const { network, limits, vitals, slowStart, leader, probing, queue } = parts;
  const { getState, subscribe, update } = createStatus();
  const whenProbed = (down: Down): Pick<Pause, 'retryAt' | 'probedBy'> => ({
    retryAt: probing.timeOf(down),
    probedBy: leader.isElsewhere(down[0]) ? 'another-tab' : undefined,
  });
  const whyPaused: Shown['whyPaused'] = ({ endpoint, limitScope }) => {
    // The origin itself is not to blame for a device that is offline.
    if (network.isOffline()) return { reason: 'offline', retryAt: network.retryAt() };
    const limited = limits.until(limitScope);
    const down = vitals.downFor(endpoint);
    if (limited > -Infinity) {
      // In a release nobody knows whose turn is when.
      const isPaced = slowStart.isUnderWay(endpoint);
      // What is down as well is probed after both.
      const probed = down ? probing.timeOf(down, queue.groups()) : isPaced ? undefined : limited;
      const retryAt = probed === undefined ? undefined : Math.max(limited, probed);
      return { reason: 'rate-limited', retryAt };
    }
    // Nobody knows whose turn is when.
    if (!down) return { reason: 'queued', retryAt: undefined };
    return { reason: 'server-down', ...whenProbed(down) };
  };
  const stateNow = (): OriginState => {
    const [down] = vitals.down();
    const waiting = queue.size();
    if (down && (down[0] === everything || vitals.isOnlyOne(down[0])))
      return { status: 'down', ...whenProbed(down), waiting };
    const scopes = queue.groups().map(({ limitScope }) => limitScope);
    const limited = limits.nextAt(waiting > 0 ? scopes : undefined);
    if (limited < Infinity) return { status: 'rate-limited', retryAt: limited, waiting };
    const status = slowStart.isRecovery() ? 'recovering' : 'up';
    return { status, retryAt: undefined, waiting };
  };
  return {
    getState,
    subscribe,
    whyPaused,
    update() {
      update(stateNow());
      queue.tell(whyPaused);
    },
  };
}
