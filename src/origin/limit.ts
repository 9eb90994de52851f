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
  /** One of those that are left goes out. */
  readonly spend: () => void;
  /** Whether something new has to wait. */
  readonly isHolding: () => boolean;
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

  const isHolding = (): boolean => {
    const now = clock.now();
    // A clock that was set back would prolong it.
    return now < getState().until && now >= heldAt;
  };
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
    pause: (retryAfterMs) => hold(clock.now() + retryAfterMs),
    allow(left, at) {
      // An answer that was overtaken gives nothing back.
      const isSameWindow = clock.now() < resetAt && at <= resetAt + 1000;
      remaining = isSameWindow ? Math.min(remaining, left) : left;
      resetAt = at;
      check();
    },
    spend() {
      if (remaining === Infinity) return;
      remaining--;
      if (clock.now() >= resetAt) remaining = Infinity;
      else check();
    },
    isHolding,
  };
}
