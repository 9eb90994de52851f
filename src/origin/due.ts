import type { Health } from './health.ts';
import { lastChanceMs } from './probe-schedule.ts';
import { ableGroups, isQueued, type Origin } from './origin.ts';
import { firstOf, type Group, groupsOf, type Waiter } from './wait-queue.ts';

/** Sends one of those who wait: as a probe, or as one of a slow start. */
type Go = (waiter: Waiter, probed?: Health, isPaced?: boolean) => void;

/** So many go, or give up, in one task, so that thousands do not block the page. */
const mostInOneTask = 50;

/** Whoever waits goes when that is due, or gives up. @returns when the next one is due. */
export function sendDue(origin: Origin, now: number, go: Go): number {
  // First: nobody gives up who is just due as the probe.
  sendProbes(origin, now, go);
  return Math.min(
    sendQueued(origin, now, go),
    sendExpired(origin, now, go),
    // And last: whose pause ends next says when.
    sendProbes(origin, now, go),
  );
}

/** When this tab probes, for those who wait for what is down. */
function probeAtOf({ leader, queue }: Origin, { scope, probes }: Health): number {
  let [expiresAt, since, lastAt] = [Infinity, Infinity, Infinity];
  for (const group of groupsOf(scope, queue.groups())) {
    lastAt = Math.min(lastAt, group.expiresAt - lastChanceMs);
    // Those who were first to ask are first to give up.
    const seen = group.firstInForeground();
    if (!seen) continue;
    expiresAt = Math.min(expiresAt, seen.expiresAt);
    since = Math.min(since, seen.askedAt);
  }
  const isSeen = since < Infinity;
  const sinceMs = Math.max(since, probes.startedAt());
  const leaderAt = leader?.waitsUntil(scope, isSeen, sinceMs, lastAt) ?? 0;
  return Math.max(probes.nextAt(isSeen, expiresAt), leaderAt);
}

/** Whoever waits for what is down: one of them goes as its probe. */
function sendProbes(origin: Origin, now: number, go: Go): number {
  const { health, leader, queue } = origin;
  // The least risk, then the endpoint that has failed least often: a broken one must not keep its
  // origin down.
  const costOf = ({ risk, endpoint }: Group): number => risk * 1e6 + health.failures(endpoint);
  let next = Infinity;
  for (const down of health.down()) {
    const able = (): readonly Group[] => groupsOf(down.scope, ableGroups(origin));
    if (groupsOf(down.scope, queue.groups()).length === 0) {
      // While its probe is under way, the other tabs wait for that.
      if (!down.probes.isProbing()) leader?.rest(down.scope);
      continue;
    }
    down.probeAt = probeAtOf(origin, down);
    const first = down.probeAt <= now ? firstOf(able(), costOf) : undefined;
    if (first) {
      go(first, down);
      down.probeAt = probeAtOf(origin, down);
    }
    if (able().length > 0) next = Math.min(next, down.probeAt);
  }
  return next;
}

/** Those go that nothing keeps back, or the pace of a slow start alone. */
function sendQueued(origin: Origin, now: number, go: Go): number {
  const { health, slowStart } = origin;
  const isDown = ({ endpoint }: Group): boolean => health.downFor(endpoint) !== undefined;
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
    const isFree = (group.isFailFast || now >= group.expiresAt) && isQueued(origin, group);
    // Their slow start comes soon: that is not missed for the end of a pause.
    if (isFree && origin.slowStart.isUnderWay(group.endpoint) && origin.isPlaceFree()) continue;
    const isRefused = group.isFailFast && !isFree;
    if (isRefused || now >= group.expiresAt) {
      left -= endWaits(origin, group, isRefused ? Infinity : now, left, go);
      if (left < 0) return now;
      // Those that began to wait meanwhile count, too.
      group.updateExpiry();
    }
    next = Math.min(next, group.expiresAt);
  }
  return next;
}

/** Ends the waits of a group that are over by then. @returns how many, or more than `most` where some are left. */
function endWaits(
  { network, health, queue, isPlaceFree }: Origin,
  { endpoint, isFailFast, waiters }: Group,
  overAt: number,
  most: number,
  go: Go,
): number {
  const isSent = !isFailFast && !network.isOffline() && !health.downFor(endpoint);
  let count = 0;
  for (const waiter of waiters.filter(({ expiresAt }) => expiresAt <= overAt)) {
    if (++count > most) break;
    if (isSent && isPlaceFree()) go(waiter);
    else if (queue.remove(waiter)) waiter.who.take();
  }
  return count;
}
