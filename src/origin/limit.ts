import type { Clock, Random } from '../policy/clock.ts';
import { between } from './between.ts';
import { createStore, type Readable } from './store.ts';

/** What an origin has said about how much it will take. */
interface LimitState {
  /** Nothing may go out before this time, in epoch milliseconds. */
  readonly until: number;
  /** What was held till then goes from this time on: spread, so that tabs do not come back in step. */
  readonly releaseAt: number;
}

/** The pause that an origin has asked for, and the number of requests that it has left. */
export interface Limit extends Readable<LimitState> {
  /** A 429 or 503 with Retry-After. */
  readonly pause: (retryAfterMs: number) => void;
  /** What RateLimit says is left, less what is under way and may not be counted yet. */
  readonly allow: (remaining: number, resetAt: number) => void;
  /** One of those that are left goes out. @returns `isPaused`, then. */
  readonly spend: () => boolean;
  /** Whether something new has to wait. */
  readonly isHolding: () => boolean;
  /** Whether what is not new has to wait: after a pause it comes back bit by bit. */
  readonly isSpreading: () => boolean;
  /** The origin has asked for a pause, and nothing has been released since. */
  readonly isPaused: () => boolean;
  /** What was held for it is being released. */
  readonly resume: () => void;
  /** Nobody waits: once its time is over, there is nothing to release. */
  readonly rest: () => void;
  /** When less is held for it, in epoch milliseconds; `Infinity` when nothing is. */
  readonly easesAt: () => number;
}

/** At least this much spread after a pause, and half of the pause where that is more. */
const leastSpreadMs = 2000;

/** No word of a server shuts a tab out for longer: draft-ietf-httpapi-ratelimit-headers asks for such a bound. */
const longestMs = 3_600_000;

export function createLimit(clock: Clock, random: Random): Limit {
  const { getState, subscribe, set } = createStore<LimitState>({ until: 0, releaseAt: 0 });
  let remaining = Infinity;
  let resetAt = 0;
  let heldAt = 0;
  let isPaused = false;

  const isHolding = (): boolean => {
    const now = clock.now();
    // A clock that was set back would prolong it.
    return now < getState().until && now >= heldAt;
  };
  const isSpreading = (): boolean => clock.now() < getState().releaseAt;
  const hold = (askedUntil: number): void => {
    const now = clock.now();
    const until = Math.min(askedUntil, now + longestMs);
    if (until <= getState().until && now >= heldAt) return;
    heldAt = now;
    const spreadMs = Math.max(leastSpreadMs, (until - now) / 2);
    set({ until, releaseAt: until + between(random, 0, spreadMs) });
  };
  const check = (): void => {
    if (remaining <= 0) hold(resetAt);
  };
  return {
    getState,
    subscribe,
    pause(retryAfterMs) {
      hold(clock.now() + retryAfterMs);
      isPaused = true;
    },
    allow(left, at) {
      // An answer that was overtaken gives nothing back.
      const isSameWindow = clock.now() < resetAt && at <= resetAt + 1000;
      remaining = isSameWindow ? Math.min(remaining, left) : left;
      resetAt = at;
      check();
      isPaused ||= isHolding();
    },
    spend() {
      if (remaining < Infinity) {
        remaining--;
        if (clock.now() >= resetAt) remaining = Infinity;
        else check();
      }
      // The last of what was left has gone.
      return (isPaused ||= isHolding());
    },
    isHolding,
    isSpreading,
    isPaused: () => isPaused,
    resume() {
      isPaused = false;
    },
    rest() {
      isPaused &&= isSpreading();
    },
    easesAt() {
      if (isHolding()) return getState().until;
      return isPaused && isSpreading() ? getState().releaseAt : Infinity;
    },
  };
}
