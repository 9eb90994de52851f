import type { Clock } from '../lib/clock.ts';
import type { SlowStart } from './slow-start.ts';
import { everything } from './vitals.ts';
import { firstOf, type Group, type Waiter, type WaitQueue } from './wait-queue.ts';

/** Lets those go that nothing but their turn keeps back, and those whose time is up. */
export interface Release {
  /** What was down for so long is up: those who wait for it go in turn. */
  readonly begin: (scope: string, downMs: number, firstMs: number) => void;
  /** The end of a Retry-After or RateLimit: those who were told go in turn. */
  readonly spread: (limitScopes: readonly string[]) => void;
  /** Lets go whose turn it is. @returns when the next one's comes. */
  readonly run: (now: number) => number;
  /**
   * Those whose time is up go where that is possible, and else their wait ends without.
   *
   * @returns when the time of the next one is up.
   */
  readonly expire: (now: number) => number;
}

/** What is known of those who wait. */
interface Gate<P> {
  /** They go at once, or in their turn. */
  readonly ready: () => readonly Group<P>[];
  /** They wait for a free place alone. */
  readonly isQueue: (group: Group<P>) => boolean;
  /** Nothing is known against sending them. */
  readonly mayGo: (group: Group<P>) => boolean;
  readonly isPlaceFree: () => boolean;
  /** `isInTurn`: it goes in its turn, once its origin is back. */
  readonly go: (waiter: Waiter<P>, isInTurn: boolean) => void;
}

/** What was paused goes within this share of the outage, if answers are fast. */
const releaseShare = 0.4;
const leastReleaseMs = 1000;
const mostReleaseMs = 12_000;
/** After a Retry-After, what has waited for it goes within so long. */
const limitSpreadMs = 1000;
/** So many go, or give up, in one task, so that thousands do not block the page. */
const mostInOneTask = 50;

export function createRelease<P>(
  clock: Clock,
  slowStart: SlowStart,
  queue: WaitQueue<P>,
  { ready, isQueue, mayGo, isPlaceFree, go }: Gate<P>,
): Release {
  /** Their turn comes soon: that is not missed for the end of a pause. */
  const isNext = (group: Group<P>): boolean =>
    slowStart.isUnderWay(group.endpoint) && isQueue(group) && isPlaceFree();
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
    run(now) {
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
        if (isPaced) slowStart.advance();
        go(next, isPaced && slowStart.isRecovery());
      }
      return Infinity;
    },
    expire(now) {
      let [next, left] = [Infinity, mostInOneTask];
      for (const group of queue.groups()) {
        const isRefused = group.isFailFast && !isQueue(group);
        if (!isRefused && isNext(group)) continue;
        if (isRefused || now >= group.expiresAt) {
          const isSent = mayGo(group) && !group.isFailFast;
          let soonest = Infinity;
          for (const waiter of group.waiters) {
            if (!isRefused && now < waiter.expiresAt) {
              soonest = Math.min(soonest, waiter.expiresAt);
              continue;
            }
            if (left-- === 0) return now;
            if (isSent && isPlaceFree()) go(waiter, false);
            else if (queue.remove(waiter)) waiter.take(undefined);
          }
          group.expiresAt = soonest;
        }
        next = Math.min(next, group.expiresAt);
      }
      return next;
    },
  };
}

const sizeOf = <P>(groups: readonly Group<P>[]): number =>
  groups.reduce((sum, { waiters }) => sum + waiters.size, 0);
