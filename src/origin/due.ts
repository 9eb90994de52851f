import type { Waiter } from './ask.ts';
import { isAble, isNext, isOffline, isUp, turnAt } from './gates.ts';
import type { Health } from './health/endpoint-health.ts';
import { lastChanceMs, shortestGapMs } from './health/probe-schedule.ts';
import type { Origin, Watcher } from './origin.ts';
import { firstOf, type Group, groupsOf } from './wait-queue.ts';

/** Sends one of those who wait: as a probe of what is down, or in its turn. */
type Send = (waiter: Waiter, down: Health | undefined) => void;

/** So many go, or give up, in one task, so that thousands do not block the page. */
const mostInOneTask = 50;

/** A probe this long before a retry would be one too many: it waits for the retry. */
const alignedMs = 300;

/**
 * All of those who wait and whose gates are open go, in the order of the queue. Then those end whose time is
 * up: not one that is just due as the probe. @returns when to come back.
 */
export function sendDue(origin: Origin, now: number, send: Send): number {
  planProbes(origin);
  const { queue, health } = origin;
  if (queue.size() === 0) return Infinity;
  for (let left = mostInOneTask; ; left--) {
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

/** Sets when this tab probes what is down, for those who wait for it. */
function planProbes(origin: Origin): void {
  const { health, leader, queue } = origin;
  for (const down of health.down()) {
    const waiting = groupsOf(down.scope, queue.groups());
    if (waiting.length > 0) down.scheduleProbe(probeAtOf(origin, down, waiting));
    // While its probe is under way, the other tabs wait for that.
    else if (!down.probes.isProbing()) leader?.rest(down.scope);
  }
}

function probeAtOf({ leader, network }: Origin, down: Health, waiting: readonly Group[]): number {
  const { scope, probes } = down;
  const isDue = (at: number): boolean => at > probes.startedAt();
  const seen = waiting.flatMap((group) => group.seen());
  // Of those that a user waits for, those who were first to ask are first to give up.
  const expiresAt = leastOf(seen, (waiter) => waiter.expiresAt);
  const since = leastOf(seen, (waiter) => waiter.askedAt);
  // Where the device may be offline, more of them find out no sooner: the browser says when it is back.
  const isAnySeen = seen.length > 0 && !isOffline(network, down);
  const retryAt = leastOf(seen, ({ ask }) => ask.retriesAt?.find(isDue) ?? Infinity);
  if (isAnySeen && !probes.isProbing()) probes.promise(retryAt);
  const sinceMs = Math.max(since, probes.startedAt());
  const lastAt = leastOf(waiting, (group) => group.expiresAt) - lastChanceMs;
  const leaderAt = leader?.waitsUntil(scope, isAnySeen, sinceMs, lastAt) ?? 0;
  const probeAt = probes.nextAt(isAnySeen, expiresAt);
  const isAligned = isAnySeen && probeAt < retryAt && retryAt <= probeAt + alignedMs;
  return Math.max(isAligned ? retryAt : probeAt, leaderAt);
}

const leastOf = <T>(all: readonly T[], read: (one: T) => number): number =>
  all.reduce((least, one) => Math.min(least, read(one)), Infinity);

/** How often the endpoint has failed, where those of the group would go as a probe. */
const probeFailures = ({ health }: Origin, { shared }: Group): number | undefined =>
  health.downFor(shared) && health.failures(shared.endpoint);

/**
 * A user wants what is down to be probed now: by one of those who wait and, where a probe began a moment ago,
 * a moment later.
 */
export function probeFirst(origin: Origin, now: number, force: (waiter: Waiter) => void): void {
  for (const { scope, probes } of origin.health.down()) {
    const waiting = groupsOf(scope, origin.queue.groups());
    const able = waiting.filter(({ shared }) => isAble(origin, shared));
    const first = firstOf(able, (group) => probeFailures(origin, group));
    const freeAt = probes.startedAt() + shortestGapMs;
    if (now < freeAt) probes.promise(freeAt);
    else if (first) force(first);
  }
}

/** The watcher that probes next, and when: where no attempt waits for what is down. */
export function nextWatcher(origin: Origin, now: number): readonly [at: number, watcher?: Watcher] {
  let next: readonly [at: number, watcher?: Watcher] = [Infinity];
  for (const watcher of origin.watchers) {
    const at = watchedAtOf(origin, watcher, now);
    if (at >= next[0] || !isAble(origin, watcher.place)) continue;
    // Whether it is seen counts when it is due.
    if (at > now || watcher.isSeen()) next = [at, watcher];
  }
  return next;
}

function watchedAtOf({ health, inFlight, leader, queue }: Origin, { place }: Watcher, now: number) {
  const down = health.downFor(place);
  // The outage was forgotten, so that it is over is not known: one after the other finds out.
  if (!down) return inFlight.size === 0 ? now : Infinity;
  const { scope, probes } = down;
  // Those who wait probe by themselves.
  if (groupsOf(scope, queue.groups()).length > 0) return Infinity;
  const leaderAt = leader?.waitsUntil(scope, false, probes.startedAt(), Infinity) ?? 0;
  return Math.max(probes.idleAt(), leaderAt);
}
