import { notifyApp } from '../lib/input/callback.ts';
import { keepIfSame, type Readable } from '../lib/store.ts';
import { originOf } from '../lib/input/url.ts';
import { isOffline, whenProbed } from './gates.ts';
import type { Origin } from './origin.ts';
import type { Origins } from './origins.ts';

/** How an origin is. */
export interface OriginState {
  /**
   * `down`: different endpoints have failed, and none has answered since; or all that were asked within the
   * last minute are down. Where another one is answered, the origin of one that is down is `up`.
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

/** How the origin is now. */
export function stateOf(origin: Origin): OriginState {
  const { limits, health, slowStart, queue } = origin;
  const [down] = health.down();
  const waiting = queue.size();
  if (down && health.isAllDown() && !isOffline(origin.network, down))
    return { status: 'down', ...whenProbed(origin, down), waiting };
  const scopes = queue.groups().map(({ shared }) => shared.limitScope);
  const retryAt = limits.pausedUntil(waiting > 0 ? scopes : undefined);
  if (retryAt !== undefined || scopes.some((scope) => limits.until(scope) > -Infinity))
    return { status: 'rate-limited', retryAt, waiting };
  const status = slowStart.isUnderWay() ? 'recovering' : 'up';
  return { status, retryAt: undefined, waiting };
}

const rank = { up: 0, recovering: 1, 'rate-limited': 2, down: 3 } as const;

/** The worst of several, with all that wait. */
function worstOf(states: readonly OriginState[]): OriginState {
  let worst = up;
  let waiting = 0;
  for (const state of states) {
    waiting += state.waiting;
    if (rank[state.status] > rank[worst.status]) worst = state;
  }
  return { ...worst, waiting };
}

/** The state of one origin, its partitions included; of all of them, the worst, without an origin. */
export function originStatus(origins: Origins, origin?: string): Readable<OriginState> {
  const wanted = origin && originOf(origin);
  if (wanted === '')
    throw new TypeError(`useOriginStatus: '${origin}' is no URL, and must be one.`);
  const { clock, admissions } = origins;
  let state = up;
  return {
    getState() {
      const own = [...admissions].filter(
        ([key]) => wanted === undefined || key.split(' ')[0] === wanted,
      );
      const worst = worstOf(own.map(([, admission]) => stateOf(admission.origin)));
      // Shown is the time on the wall, also where that was set.
      const { retryAt = NaN } = worst;
      const shownAt = retryAt - (clock.setBackMs?.() ?? 0);
      const shown = Number.isNaN(shownAt) ? worst : { ...worst, retryAt: shownAt };
      return (state = keepIfSame(state, shown));
    },
    subscribe: (listener) => watchOrigins(origins, listener),
  };
}

/** Calls the listener when the state of any origin may have changed, until the returned function is called. */
export function watchOrigins({ watchers, reconsider }: Origins, listener: () => void): () => void {
  const tell = (): void => notifyApp(listener, undefined);
  watchers.add(tell);
  // What is only shown is kept up to date from now on.
  reconsider();
  return () => {
    watchers.delete(tell);
    reconsider();
  };
}
