import type { Clock } from '../lib/clock.ts';
import type { SlowStart } from './slow-start.ts';
import { everything } from './vitals.ts';
import { firstOf, type Group, type Waiter, type WaitQueue } from './wait-queue.ts';

/** Lets those go that nothing but their turn keeps back. */
export interface Release<P> {
  /** What was down for so long is up: those who wait for it go in turn. */
  readonly begin: (scope: string, downMs: number, firstMs: number) => void;
  /** The end of a Retry-After or RateLimit: those who were told go in turn. */
  readonly spread: (limitScopes: readonly string[]) => void;
  /** Lets go whose turn it is. @returns when the next one's comes. */
  readonly run: (
    now: number,
    isPlaceFree: () => boolean,
    go: (waiter: Waiter<P>) => void,
  ) => number;
}

/** What was paused goes within this share of the outage, if answers are fast. */
const releaseShare = 0.4;
const leastReleaseMs = 1000;
const mostReleaseMs = 12_000;
/** After a Retry-After, what has waited for it goes within so long. */
const limitSpreadMs = 1000;
/** So many go, or give up, in one task, so that thousands do not block the page. */
export const mostInOneTask = 50;

export function createRelease<P>(
  clock: Clock,
  slowStart: SlowStart,
  queue: WaitQueue<P>,
  /** Those who may go at once, or in their turn. */
  ready: () => readonly Group<P>[],
): Release<P> {
  return {
    begin(scope, downMs, firstMs) {
      const groups = queue
        .groups()
        .filter(({ endpoint }) => scope === everything || endpoint === scope);
      // All of it before the first pause ends.
      const patienceMs = Math.min(...groups.map(({ expiresAt }) => expiresAt)) - clock.now();
      const overMs = Math.max(downMs * releaseShare, leastReleaseMs);
      slowStart.begin({
        count: sizeOf(groups),
        overMs: Math.min(overMs, mostReleaseMs, patienceMs),
        endpoint: scope === everything ? undefined : scope,
        firstMs,
        isRecovery: true,
      });
    },
    spread(limitScopes) {
      const groups = queue.groups().filter(({ limitScope }) => limitScopes.includes(limitScope));
      if (groups.length === 0 || slowStart.isUnderWay()) return;
      const [endpoint, ...others] = new Set(groups.map((group) => group.endpoint));
      slowStart.begin({
        count: sizeOf(groups),
        overMs: limitSpreadMs,
        endpoint: others.length === 0 ? endpoint : undefined,
        isRecovery: false,
      });
    },
    run(now, isPlaceFree, go) {
      for (let left = mostInOneTask; isPlaceFree(); left--) {
        const groups = ready();
        const nextAt = slowStart.nextAt();
        const due = groups.filter(
          ({ endpoint }) => nextAt <= now || !slowStart.isUnderWay(endpoint),
        );
        const next = firstOf(due);
        if (!next) return groups.length > 0 ? nextAt : Infinity;
        if (left === 0) return now;
        const isPaced = slowStart.isUnderWay(next.group.endpoint);
        go(next);
        if (isPaced) slowStart.advance();
      }
      return Infinity;
    },
  };
}

const sizeOf = <P>(groups: readonly Group<P>[]): number =>
  groups.reduce((sum, { waiters }) => sum + waiters.size, 0);
