import { between } from '../origin/between.ts';
import { hasPage } from '../origin/has-page.ts';
import type { Clock, Random } from '../lib/clock.ts';
import { onPageEvent } from './page-events.ts';

/** Whether the page stays. */
export interface PageLife {
  /**
   * Resolves once the page is known to stay; never, where it does not. Undefined while nothing
   * speaks against it.
   */
  readonly fate: () => Promise<void> | undefined;
  /** Whether a timer that was set then, and is late, was late because the page was asleep. */
  readonly wasAsleep: (sinceMs: number) => boolean;
  readonly dispose: () => void;
}

/** A page that is still there so long after its requests were cut off, stays. */
const leastMs = 1000;
const mostMs = 2000;

/** A page that is put away runs no timers for long: one that still does after so many, has stayed. */
const mostTurns = 6;

/** A navigation can wait for its server so long, and cuts off at its end what was sent since. */
const leavingMs = 30_000;

/**
 * Browsers reject what is under way when the page is left, some before they say so (`pagehide`), and
 * also when it then stays: a download, an answer 204, `window.stop()`. Undefined where there is no
 * page.
 */
export function watchPageLife(clock: Clock, random: Random): PageLife | undefined {
  if (!hasPage()) return undefined;
  let isAway = false;
  let leftAt = -Infinity;
  let thawedAt = -Infinity;
  const unwatch = onPageEvent((event) => {
    if (event === 'leave') leftAt = clock.now();
    else if (event === 'hide') isAway = true;
    else if (event === 'show') isAway = false;
    else if (event === 'thaw') thawedAt = clock.now();
  });

  return {
    fate() {
      const agoMs = clock.now() - leftAt;
      // A clock that was set back would prolong it.
      if (!isAway && (agoMs < 0 || agoMs > leavingMs)) return undefined;
      return new Promise((resolve) => {
        // Drawn, so that what was cut off together does not come back together.
        const wait = (turn: number): void => {
          const look = (): void => {
            if (isAway && turn < mostTurns) return wait(turn + 1);
            isAway = false;
            resolve();
          };
          clock.setTimeout(look, between(random, leastMs, mostMs));
        };
        wait(1);
      });
    },
    // Awake, the timers of a tab that is seen are in time.
    wasAsleep: (sinceMs) => thawedAt >= sinceMs || document.visibilityState !== 'hidden',
    dispose() {
      unwatch();
      isAway = false;
      leftAt = -Infinity;
    },
  };
}
