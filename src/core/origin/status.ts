import { notifyApp } from '../lib/input/callback.ts';
import { keepIfSame, type Readable } from '../lib/store.ts';
import { originOf, toUrl } from '../lib/input/url.ts';
import { isOffline, whenProbed } from './gates.ts';
import type { Origin } from './origin.ts';
import type { Origins } from './origins.ts';

/** The state of an origin. */
export interface OriginState {
  /**
   * `down`: several endpoints have failed and none has answered since, or every endpoint used within the last
   * minute is down. An origin with an endpoint that is down is `up` while another endpoint answers.
   */
  readonly status: 'up' | 'recovering' | 'down' | 'rate-limited';
  /** When it is next tried, or accepts requests again, in epoch milliseconds; undefined when not known. */
  readonly retryAt: number | undefined;
  /** Another tab probes, and reports the result to this one; undefined if this tab probes, or none does. */
  readonly probedBy?: 'another-tab' | undefined;
  /** The number of attempts that wait. */
  readonly waiting: number;
}

/** The state without any evidence against the origin. */
export const up: OriginState = Object.freeze({ status: 'up', retryAt: undefined, waiting: 0 });

/** The current state of an origin. */
export function stateOf(origin: Origin): OriginState {
  const { limits, health, slowStart, queue } = origin;
  const [down] = health.down();
  const waiting = queue.size;
  if (down && health.isAllDown() && !isOffline(origin.network, down))
    return { status: 'down', ...whenProbed(origin, down), waiting };
  const scopes = queue.groups().map(({ shared }) => shared.limitScope);
  const retryAt = limits.pausedUntil(waiting > 0 ? scopes : undefined);
  if (
    retryAt !== undefined ||
    queue.groups().some(({ shared }) => limits.until(shared) > -Infinity)
  )
    return { status: 'rate-limited', retryAt, waiting };
  const status = slowStart.isUnderWay() ? 'recovering' : 'up';
  return { status, retryAt: undefined, waiting };
}

const rank = { up: 0, recovering: 1, 'rate-limited': 2, down: 3 } as const;

/** The worst of several states, with the total number of waiting attempts. */
function worstOf(states: readonly OriginState[]): OriginState {
  let worst = up;
  let waiting = 0;
  for (const state of states) {
    waiting += state.waiting;
    if (rank[state.status] > rank[worst.status]) worst = state;
  }
  return { ...worst, waiting };
}

/** The state of one origin with all its partitions or, without an origin, the worst state of all. */
export function originStatus(origins: Origins, origin?: string): Readable<OriginState> {
  const wanted = origin && originOf(origin);
  // On a server a relative URL is of no origin.
  if (wanted === '' && !toUrl(origin as string, 'http://a'))
    throw new TypeError(`useOriginStatus: '${origin}' is no URL, and must be one.`);
  const { clock, admissions } = origins;
  let state = up;
  return {
    getState() {
      const own = [...admissions].filter(
        ([key]) => wanted === undefined || key.split(' ')[0] === wanted,
      );
      const worst = worstOf(own.map(([, admission]) => stateOf(admission.origin)));
      // Times are shown by the wall clock, even if that was set back.
      const { retryAt = NaN } = worst;
      const shownAt = retryAt - (clock.setBackMs?.() ?? 0);
      const shown = Number.isNaN(shownAt) ? worst : { ...worst, retryAt: shownAt };
      return (state = keepIfSame(state, shown));
    },
    subscribe: (listener) => watchOrigins(origins, listener),
  };
}

/** Calls the listener when the state of any origin may have changed, until the returned function is called. */
export function watchOrigins(origins: Origins, listener: () => void): () => void {
  const { watchers } = origins;
  const notify = (): void => notifyApp(listener, undefined);
  watchers.add(notify);
  // Timers that only update the shown state run while there is a listener.
  origins.reconsider();
  return () => {
    watchers.delete(notify);
    origins.reconsider();
  };
}
