import type { Health } from './health.ts';
import { ableGroups, type Origin, type Place } from './origin.ts';
import { everything, type Group, groupsOf, type Pause } from './wait-queue.ts';

/** How an origin is. */
export interface OriginState {
  /**
   * `down`: different endpoints have failed, and none has answered since; or the only one that was asked
   * for a minute is down. Where others are asked, too, the origin of one that is down is `up`.
   */
  readonly status: 'up' | 'recovering' | 'down' | 'rate-limited';
  /** When it is tried next, or takes requests again, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: number | undefined;
  /** Another tab probes what is down, and tells this one; undefined where this tab does, or nobody. */
  readonly probedBy?: 'another-tab' | undefined;
  /** Attempts that wait. */
  readonly waiting: number;
}

/** Nothing is known against it. */
export const up: OriginState = Object.freeze({ status: 'up', retryAt: undefined, waiting: 0 });

/** What is shown of the next probe: nothing while one is under way, or nobody in these groups waits for it. */
function whenProbed(
  { leader }: Origin,
  { scope, probes, probeAt }: Health,
  groups: readonly Group[],
): Pick<Pause, 'retryAt' | 'probedBy'> {
  if (leader.isElsewhere(scope)) return { retryAt: undefined, probedBy: 'another-tab' };
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

/** How the origin is now. */
export function stateOf(origin: Origin): OriginState {
  const { limits, health, slowStart, queue } = origin;
  const [down] = health.down();
  const waiting = queue.size();
  if (down && (down.scope === everything || health.isOnlyOne(down.scope)))
    return { status: 'down', ...whenProbed(origin, down, ableGroups(origin)), waiting };
  const scopes = queue.groups().map(({ limitScope }) => limitScope);
  const limited = limits.nextAt(waiting > 0 ? scopes : undefined);
  if (limited < Infinity) return { status: 'rate-limited', retryAt: limited, waiting };
  const status = slowStart.isRecovery() ? 'recovering' : 'up';
  return { status, retryAt: undefined, waiting };
}

const rank = { up: 0, recovering: 1, 'rate-limited': 2, down: 3 } as const;

/** The worst of several, with all that wait. */
export function worstOf(states: readonly OriginState[]): OriginState {
  let worst = up;
  let waiting = 0;
  for (const state of states) {
    waiting += state.waiting;
    if (rank[state.status] > rank[worst.status]) worst = state;
  }
  return { ...worst, waiting };
}
