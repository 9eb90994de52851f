import type { Waiter } from './queue/ask.ts';
import { isNext, isUp, turnAt } from './gates.ts';
import { firstOf } from './queue/group.ts';
import type { Health } from './health/endpoint-health.ts';
import type { Origin } from './origin.ts';
import { planProbes, probeFailures } from './health/probing.ts';

/** Sends one of those who wait: as a probe of what is down, or in its turn. */
type Send = (waiter: Waiter, down: Health | undefined) => void;

/** So many go, or give up, in one task, so that thousands do not block the page. */
const mostInOneTask = 50;

/**
 * All of those who wait and whose gates are open go, in the order of the queue. Then those end whose time is
 * up: not one that is just due as the probe. @returns when to come back.
 */
export function sendDue(origin: Origin, now: number, send: Send): number {
  planProbes(origin);
  const { queue, health } = origin;
  for (let left = mostInOneTask; queue.size() > 0; left--) {
    const ready = queue.groups().filter(({ shared }) => turnAt(origin, shared, now) === -Infinity);
    const next = firstOf(ready, (group) => probeFailures(origin, group));
    if (!next) break;
    if (left === 0) return now;
    const down = health.downFor(next.ask);
    send(next, down);
    if (down) planProbes(origin);
  }
  const endsAt = endWaits(origin, now, send);
  // The pause that ends next may have become another one.
  planProbes(origin);
  const turns = queue.groups().map(({ shared }) => turnAt(origin, shared, now));
  return Math.min(endsAt, ...turns.map((at) => Math.max(at, now)));
}

/** Those whose time is up go where only their turn is waited for; the wait of the others ends. @returns when the next one ends. */
function endWaits(origin: Origin, now: number, send: Send): number {
  let [next, left] = [Infinity, mostInOneTask];
  for (const group of origin.queue.groups()) {
    const { waiters, shared } = group;
    const limitedUntil = origin.limits.leastUntil(shared.limitScope);
    // Nor does anything wait for what comes only after its time is up.
    const isOver = ({ expiresAt }: Pick<Waiter, 'expiresAt'>): boolean =>
      now >= expiresAt || limitedUntil > expiresAt;
    const isRefused = shared.isFailFast && !isUp(origin, shared);
    if (isRefused || isOver(group)) {
      const mayGo = (): boolean => !isRefused && isNext(origin, shared);
      // Their slow start comes soon: that is not missed for the end of a pause.
      if (origin.slowStart.isUnderWay(shared.endpoint) && mayGo()) continue;
      for (const waiter of isRefused ? [...waiters] : waiters.filter(isOver)) {
        if (left-- === 0) return now;
        if (mayGo()) send(waiter, undefined);
        else if (origin.queue.remove(waiter)) waiter.who.take();
      }
      // Those that began to wait meanwhile count, too.
      group.updateExpiry();
    }
    next = Math.min(next, group.expiresAt);
  }
  return next;
}
