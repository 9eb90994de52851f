import type { Health } from './health.ts';
import { lastChanceMs, shortestGapMs } from './probe-schedule.ts';
import { ableGroups, isAble, isOffline, isQueued, type Origin, type Watcher } from './origin.ts';
import { firstOf, type Group, groupsOf, type Waiter } from './wait-queue.ts';

/** Sends one of those who wait: as a probe, or as one of a slow start. */
type Go = (waiter: Waiter, probed?: Health, isPaced?: boolean) => void;

/** So many go, or give up, in one task, so that thousands do not block the page. */
const mostInOneTask = 50;

/** A probe so shortly before a retry would be one too many: it waits for that. */
const alignedMs = 300;

/** Whoever waits goes when that is due, or gives up. @returns when the next one is due. */
export function sendDue(origin: Origin, now: number, go: Go): number {
  if (origin.queue.size() === 0) return restLeader(origin);
  // First: nobody gives up who is just due as the probe.
  sendProbes(origin, now, go);
  return Math.min(
    sendQueued(origin, now, go),
    sendExpired(origin, now, go),
    // And last: whose pause ends next says when.
    sendProbes(origin, now, go),
  );
}

/** While its probe is under way, the other tabs wait for that. */
function restLeader({ health, leader }: Origin): number {
  if (leader)
    for (const { scope, probes } of health.down()) if (!probes.isProbing()) leader.rest(scope);
  return Infinity;
}

/** When this tab probes, for those who wait for what is down. */
function probeAtOf({ leader, network, queue }: Origin, down: Health): number {
  const { scope, probes } = down;
  let [expiresAt, since, lastAt, retryAt] = [Infinity, Infinity, Infinity, Infinity];
  const isDue = (at: number): boolean => at > probes.startedAt();
  for (const group of groupsOf(scope, queue.groups())) {
    lastAt = Math.min(lastAt, group.expiresAt - lastChanceMs);
    // Of those that a user waits for, those who were first to ask are first to give up.
    for (const waiter of group.seen()) {
      expiresAt = Math.min(expiresAt, waiter.expiresAt);
      since = Math.min(since, waiter.askedAt);
      retryAt = Math.min(retryAt, waiter.ask.retriesAt?.find(isDue) ?? Infinity);
    }
  }
  // Where the device may be offline, more of them find out no sooner: the browser says when it is back.
  const isAnySeen = since < Infinity && !isOffline(network, down);
  const sinceMs = Math.max(since, probes.startedAt());
  const leaderAt = leader?.waitsUntil(scope, isAnySeen, sinceMs, lastAt) ?? 0;
  if (isAnySeen && !probes.isProbing()) probes.promise(retryAt);
  const probeAt = probes.nextAt(isAnySeen, expiresAt);
  const isAligned = isAnySeen && probeAt < retryAt && retryAt <= probeAt + alignedMs;
  return Math.max(isAligned ? retryAt : probeAt, leaderAt);
}

/** The least risk, then the endpoint that has failed least often: a broken one must not keep its origin down. */
const probeCost =
  ({ health }: Origin) =>
  ({ risk, endpoint }: Group): number =>
    risk * 1e6 + health.failures(endpoint);

/** Whoever waits for what is down: one of them goes as its probe. */
function sendProbes(origin: Origin, now: number, go: Go): number {
  const { health, leader, queue } = origin;
  const costOf = probeCost(origin);
  let next = Infinity;
  for (const down of health.down()) {
    const able = (): readonly Group[] => groupsOf(down.scope, ableGroups(origin));
    if (groupsOf(down.scope, queue.groups()).length === 0) {
      // While its probe is under way, the other tabs wait for that.
      if (!down.probes.isProbing()) leader?.rest(down.scope);
      continue;
    }
    const probeAt = probeAtOf(origin, down);
    down.scheduleProbe(probeAt);
    const first = probeAt <= now ? firstOf(able(), costOf) : undefined;
    if (first) {
      go(first, down);
      down.scheduleProbe(probeAtOf(origin, down));
    }
    if (able().length > 0) next = Math.min(next, down.probeAt ?? Infinity);
  }
  return next;
}

/** Those go that nothing keeps back, or the pace of a slow start alone. */
function sendQueued(origin: Origin, now: number, go: Go): number {
  const { health, slowStart } = origin;
  const isDown = (group: Group): boolean => health.downFor(group) !== undefined;
  for (let left = mostInOneTask; origin.isPlaceFree(); left--) {
    const able = ableGroups(origin).filter((group) => !isDown(group));
    const nextAt = slowStart.nextAt();
    const isDue = ({ endpoint }: Group): boolean =>
      nextAt <= now || !slowStart.isUnderWay(endpoint);
    const first = firstOf(able.filter(isDue));
    if (!first) return able.length > 0 ? nextAt : Infinity;
    if (left === 0) return now;
    const isPaced = slowStart.isUnderWay(first.ask.endpoint);
    if (isPaced) slowStart.advance();
    go(first, undefined, isPaced && slowStart.isRecovery());
  }
  return Infinity;
}

/** Those whose time is up go where that is possible, and else their wait ends without. */
function sendExpired(origin: Origin, now: number, go: Go): number {
  let [next, left] = [Infinity, mostInOneTask];
  for (const group of origin.queue.groups()) {
    const limitedUntil = origin.limits.leastUntil(group.limitScope);
    // Nor does anything wait for what comes only after its time is up.
    const isOver = ({ expiresAt }: Pick<Waiter, 'expiresAt'>): boolean =>
      now >= expiresAt || limitedUntil > expiresAt;
    const isFree = (group.isFailFast || isOver(group)) && isQueued(origin, group);
    // Their slow start comes soon: that is not missed for the end of a pause.
    if (isFree && origin.slowStart.isUnderWay(group.endpoint) && origin.isPlaceFree()) continue;
    const isRefused = group.isFailFast && !isFree;
    if (isRefused || isOver(group)) {
      const over = isRefused ? group.waiters : group.waiters.filter(isOver);
      left -= endWaits(origin, group, over.slice(0, left + 1), limitedUntil < now, left, go);
      if (left < 0) return now;
      // Those that began to wait meanwhile count, too.
      group.updateExpiry();
    }
    next = Math.min(next, group.expiresAt);
  }
  return next;
}

/** The watcher that probes next, and when: where no attempt waits for what is down. */
export function nextWatcher(origin: Origin, now: number): readonly [at: number, watcher?: Watcher] {
  const { health, watchers } = origin;
  let next: readonly [at: number, watcher?: Watcher] = [Infinity];
  for (const watcher of watchers) {
    const down = health.downFor(watcher.place);
    const at = down ? watchedAtOf(origin, down) : forgottenAt(origin, now);
    if (at >= next[0] || !isAble(origin, watcher.place)) continue;
    // Whether it is seen counts when it is due.
    if (at > now || watcher.isSeen()) next = [at, watcher];
  }
  return next;
}

function watchedAtOf({ leader, queue }: Origin, { scope, probes }: Health): number {
  // Those who wait probe by themselves.
  if (groupsOf(scope, queue.groups()).length > 0) return Infinity;
  const leaderAt = leader?.waitsUntil(scope, false, probes.startedAt(), Infinity) ?? 0;
  return Math.max(probes.idleAt(), leaderAt);
}

/** The outage was forgotten, so nobody knows that it is over: one after the other finds out. */
const forgottenAt = ({ inFlight }: Origin, now: number): number =>
  inFlight.size === 0 ? now : Infinity;

/**
 * A user wants what is down to be probed now: by one of those who wait and, where a probe began a moment ago,
 * a moment later.
 */
export function probeNow(origin: Origin, now: number, force: (waiter: Waiter) => void): void {
  for (const { scope, probes } of origin.health.down()) {
    const first = firstOf(groupsOf(scope, ableGroups(origin)), probeCost(origin));
    const freeAt = probes.startedAt() + shortestGapMs;
    if (now < freeAt) probes.promise(freeAt);
    else if (first) force(first);
  }
}

/** Ends these waits of a group. @returns how many, or more than `most` where some are left. */
function endWaits(
  { network, health, queue, isPlaceFree }: Origin,
  group: Group,
  waiters: readonly Waiter[],
  isUnlimited: boolean,
  most: number,
  go: Go,
): number {
  const mayGo = !group.isFailFast && isUnlimited && !network.isOffline() && !health.downFor(group);
  let count = 0;
  for (const waiter of waiters) {
    if (++count > most) break;
    if (mayGo && isPlaceFree()) go(waiter);
    else if (queue.remove(waiter)) waiter.who.take();
  }
  return count;
}
