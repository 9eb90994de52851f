import type { Waiter } from './ask.ts';
import { isAble, isNext, isOffline, isUp, turnAt } from './gates.ts';
import type { Health } from './health/endpoint-health.ts';
import { lastChanceMs, shortestGapMs } from './health/probe-schedule.ts';
import type { Origin, Watcher } from './origin.ts';
import { firstOf, type Group, groupsOf, type ProbeFailures, type Shared } from './wait-queue.ts';

/** Sends a waiting attempt: as the probe of what is down, or in its turn. */
type Send = (waiter: Waiter) => void;

/** Attempts that are sent or expire in one task. The limit keeps thousands of them from blocking the page. */
const mostInOneTask = 50;

/** A probe that is due this shortly before a retry waits for the retry, so that one request serves as both. */
const alignedMs = 300;

/**
 * Sends all waiting attempts whose gates are open, in the order of the queue. Then ends the expired waits: last, because
 * an attempt that is due as the probe must not expire in the same pass.
 *
 * @returns when to run it again.
 */
export function sendDue(origin: Origin, now: number, send: Send): number {
  const { queue } = origin;
  for (let left = mostInOneTask; ; left--) {
    planProbes(origin);
    if (queue.size === 0) return Infinity;
    const ready = queue.groups().filter(({ shared }) => turnAt(origin, shared) <= now);
    const next = firstOf(
      ready,
      (group) => probeFailures(origin, group),
      (scope) => origin.limits.behindFrom(scope),
    );
    if (!next) break;
    if (left === 0) return now;
    send(next);
  }
  const endsAt = endWaits(origin, now, send);
  // Again, because expiries may have changed when the next probe is due.
  planProbes(origin);
  const turns = queue.groups().map(({ shared }) => turnAt(origin, shared));
  return Math.min(endsAt, ...turns.map((at) => Math.max(at, now)));
}

/** Whether attempts of a group fail at once, because their origin is down or rate-limited. */
const isTurnedAway = (origin: Origin, shared: Shared): boolean =>
  (shared.isFailFast || (!!shared.isOnce && isAble(origin, shared))) && !isUp(origin, shared);

/** Ends the expired waits: an attempt that waits only for its turn is sent. @returns when the next wait expires. */
function endWaits(origin: Origin, now: number, send: Send): number {
  let [next, left] = [Infinity, mostInOneTask];
  for (const group of origin.queue.groups()) {
    const { waiters, shared } = group;
    const limitedUntil = origin.limits.leastUntil(shared);
    const isRefused = isTurnedAway(origin, shared);
    // An attempt waits in vain if its rate limit opens only after it expires.
    const isVain = (expiresAt: number): boolean => isRefused || limitedUntil > expiresAt;
    const endsAt = ({ expiresAt, endsFrom }: Waiter): number =>
      isVain(expiresAt) ? Math.min(expiresAt, endsFrom) : expiresAt;
    const isOver = (waiter: Waiter): boolean => now >= endsAt(waiter);
    if (isVain(group.expiresAt) || now >= group.expiresAt) {
      const mayGo = (): boolean => !isRefused && isNext(origin, shared);
      // During slow start their turn comes soon, even if it is after they expire.
      if (origin.slowStart.isUnderWay(shared.endpoint) && mayGo()) continue;
      for (const waiter of waiters.filter(isOver)) {
        if (left-- === 0) return now;
        if (mayGo()) send(waiter);
        else if (origin.queue.remove(waiter)) {
          origin.refusals.record(shared.endpoint, now);
          waiter.listener.take();
        }
      }
      // Read again, because a listener may have added a waiter.
      group.updateExpiry();
    }
    const isAnyVain = isVain(group.expiresAt);
    next = Math.min(next, isAnyVain ? leastOf(waiters, endsAt) : group.expiresAt);
  }
  return next;
}

/** Sets when this tab probes each thing that is down, for the attempts that wait for it. */
function planProbes(origin: Origin): void {
  const { health, leader, queue } = origin;
  for (const down of health.down()) {
    const waiting = groupsOf(down.scope, queue.groups());
    if (waiting.length > 0) down.scheduleProbe(probeAtOf(origin, down, waiting));
    // Other tabs wait for the result of a probe in flight.
    else if (!down.probes.isProbing()) leader?.rest(down.scope);
  }
}

function probeAtOf({ leader, network }: Origin, down: Health, waiting: readonly Group[]): number {
  const { scope, probes } = down;
  const isDue = (at: number): boolean => at > probes.startedAt;
  const seen = waiting.flatMap((group) => group.seen());
  const expiresAt = leastOf(seen, (waiter) => waiter.expiresAt);
  const since = leastOf(seen, (waiter) => waiter.askedAt);
  // If the device may be offline, frequent probes gain nothing: the browser reports when it is back.
  const isAnySeen = seen.length > 0 && !isOffline(network, down);
  const retryAt = leastOf(seen, ({ request }) => request.retriesAt?.find(isDue) ?? Infinity);
  if (isAnySeen) probes.promise(retryAt);
  const sinceMs = Math.max(since, probes.startedAt);
  const lastAt = leastOf(waiting, (group) => group.expiresAt) - lastChanceMs;
  const leaderAt = leader?.waitsUntil(scope, isAnySeen, sinceMs, lastAt) ?? 0;
  const probeAt = probes.nextAt(isAnySeen, expiresAt);
  // The time is shown from now on.
  probes.promise(probeAt);
  const alignedAt = isAnySeen && retryAt <= probeAt + alignedMs ? retryAt : probeAt;
  return Math.max(probeAt, alignedAt, leaderAt);
}

const leastOf = <T>(all: readonly T[], read: (one: T) => number): number =>
  all.reduce((least, one) => Math.min(least, read(one)), Infinity);

/** How often the endpoint and its URLs have failed; undefined if the group would not be sent as a probe. */
const probeFailures = ({ health }: Origin, { shared }: Group): ProbeFailures | undefined =>
  health.downFor(shared) && {
    ofEndpoint: health.of(shared.endpoint)?.failures ?? 0,
    ofUrl: (resource) => health.failing.failures(resource),
  };

/** Sends one waiting attempt as the probe of each thing that is down or, soon after a probe, schedules the next. */
export function probeFirst(origin: Origin, now: number, force: (waiter: Waiter) => void): void {
  for (const { scope, probes } of origin.health.down()) {
    const waiting = groupsOf(scope, origin.queue.groups());
    const able = waiting.filter(({ shared }) => isAble(origin, shared));
    const first = firstOf(able, (group) => probeFailures(origin, group));
    const freeAt = probes.startedAt + shortestGapMs;
    if (now < freeAt) probes.promise(freeAt);
    else if (first) force(first);
  }
}

/** The watcher that probes next, and when. Watchers probe only if no attempt waits. */
export function nextWatcher(origin: Origin, now: number): readonly [at: number, watcher?: Watcher] {
  let next: readonly [at: number, watcher?: Watcher] = [Infinity];
  for (const watcher of origin.watchers) {
    const at = watchedAtOf(origin, watcher, now);
    if (at >= next[0] || !isAble(origin, watcher.place)) continue;
    // Whether a user sees it matters only once it is due.
    if (at > now || watcher.isSeen()) next = [at, watcher];
  }
  return next;
}

function watchedAtOf(origin: Origin, { place, awaitedUntil }: Watcher, now: number): number {
  const { health, inFlight, leader, queue, network } = origin;
  const down = health.downFor(place);
  // The outage was forgotten without a recovery, so the watchers find out, one at a time.
  if (!down) return inFlight.size === 0 ? now : Infinity;
  const { scope, probes } = down;
  // The waiting attempts are sent as probes.
  if (groupsOf(scope, queue.groups()).length > 0) return Infinity;
  const until = awaitedUntil();
  // An endpoint beside others that are answered may be broken for long.
  const isAwaited = now < until && !isOffline(network, down) && !health.isBroken(place.endpoint);
  const leaderAt = leader?.waitsUntil(scope, isAwaited, probes.startedAt, Infinity) ?? 0;
  return Math.max(isAwaited ? probes.nextAt(true, until) : probes.idleAt(), leaderAt);
}
