import { createStore, type Readable } from '../lib/store.ts';

/** How an origin is. */
export interface OriginState {
  /**
   * `down`: different endpoints have failed, and none has answered since; or the only one that was
   * asked for a minute is down. Where others are asked, too, the origin of one that is down is `up`,
   * and what waits for that one says so by itself.
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

/** The state of an origin, to be shown: the same object until something in it changes. */
export function createStatus(): Readable<OriginState> & {
  readonly update: (next: OriginState) => void;
} {
  const { getState, subscribe, set } = createStore(up);
  return {
    getState,
    subscribe,
    update(next) {
      set(keepIfSame(getState(), next));
    },
  };
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

export function keepIfSame(before: OriginState, next: OriginState): OriginState {
  const isSame =
    before.status === next.status &&
    before.retryAt === next.retryAt &&
    before.probedBy === next.probedBy &&
    before.waiting === next.waiting;
  return isSame ? before : next;
}
