import { probeCost } from './due.ts';
import { ableGroups, type Origin } from './origin.ts';
import { shortestGapMs } from './probe-schedule.ts';
import { firstOf, groupsOf, type Waiter } from './wait-queue.ts';

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
