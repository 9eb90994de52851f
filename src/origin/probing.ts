import type { Leader } from '../tabs/leader.ts';
import type { Health } from './health.ts';
import { everything, type Vitals } from './vitals.ts';
import { firstOf, type Group, isForeground, type Waiter, type WaitQueue } from './wait-queue.ts';

/** Something that is down: an endpoint or the origin, and its health. */
export type Down = readonly [scope: string, health: Health];

/** Which of those who wait is sent as the probe of what is down, and when. */
export interface Probing<P> {
  /** Sends the probes whose time has come. @returns when the next one comes. */
  readonly send: (now: number, go: (waiter: Waiter<P>, down: Down) => void) => number;
  /**
   * When this tab probes, of those who may go; undefined where a probe is under way, or another
   * tab's, or nobody waits.
   */
  readonly timeOf: (down: Down, groups?: readonly Group<P>[]) => number | undefined;
}

export function createProbing<P>(
  vitals: Pick<Vitals, 'down' | 'failures'>,
  leader: Leader,
  queue: WaitQueue<P>,
  /** Those who may go but for what is down. */
  able: () => readonly Group<P>[],
): Probing<P> {
  const of = (scope: string, groups: readonly Group<P>[]): readonly Group<P>[] =>
    scope === everything ? groups : groups.filter(({ endpoint }) => endpoint === scope);
  const nextAt = ([scope, { probes }]: Down, groups: readonly Group<P>[]): number => {
    let [isSeen, expiresAt, since] = [false, Infinity, Infinity];
    for (const { waiters } of groups) {
      for (const waiter of waiters) {
        if (!isForeground(waiter)) continue;
        isSeen = true;
        expiresAt = Math.min(expiresAt, waiter.expiresAt);
        since = Math.min(since, waiter.askedAt);
      }
    }
    const from = Math.max(since, probes.startedAt());
    return Math.max(probes.nextAt(isSeen, expiresAt), leader.waitsUntil(scope, isSeen, from));
  };
  // The least risk, then the endpoint that has failed least often: a broken one must not keep its
  // origin down.
  const costOf = ({ ask }: Waiter<P>): number => ask.risk * 1e6 + vitals.failures(ask.endpoint);
  return {
    send(now, go) {
      let next = Infinity;
      for (const down of vitals.down()) {
        const [scope] = down;
        const waiting = of(scope, able());
        if (waiting.length === 0) {
          if (of(scope, queue.groups()).length === 0) leader.rest(scope);
          continue;
        }
        let at = nextAt(down, waiting);
        const first = at <= now ? firstOf(waiting, costOf) : undefined;
        if (first) {
          go(first, down);
          at = nextAt(down, of(scope, able()));
        }
        next = Math.min(next, at);
      }
      return next;
    },
    timeOf(down, groups = able()) {
      const [scope, { probes }] = down;
      if (probes.isProbing() || leader.isElsewhere(scope)) return undefined;
      const waiting = of(scope, groups);
      return waiting.length > 0 ? nextAt(down, waiting) : undefined;
    },
  };
}
