import type { Health } from './health.ts';
import { isAble, type Origin, type Place } from './origin.ts';
import { groupsOf } from './wait-queue.ts';

/** Something that has failed in an outage and is shown: it keeps probing, and is told of the end. */
export interface Watcher {
  readonly place: Place;
  /** Whether a user sees it now. */
  readonly isSeen: () => boolean;
  /** Fetches it again, as the probe. It watches no longer. */
  readonly probe: () => void;
  /** It is up again. It watches no longer. */
  readonly onBack: () => void;
}

/** Tells those whose endpoint is not down any more, each once. */
export function releaseWatchers({ health, watchers }: Origin): void {
  for (const watcher of watchers) {
    if (health.isDown(watcher.place.endpoint) || !watchers.delete(watcher)) continue;
    watcher.onBack();
  }
}

/** The watcher that probes next, and when: where no attempt waits for what is down. */
export function nextWatcher(origin: Origin, now: number): readonly [at: number, watcher?: Watcher] {
  const { health, watchers } = origin;
  let next: readonly [at: number, watcher?: Watcher] = [Infinity];
  for (const watcher of watchers) {
    const down = health.downFor(watcher.place);
    const at = down ? probeAtOf(origin, down) : forgottenAt(origin, now);
    if (at >= next[0] || !isAble(origin, watcher.place)) continue;
    // Whether it is seen counts when it is due.
    if (at > now || watcher.isSeen()) next = [at, watcher];
  }
  return next;
}

function probeAtOf({ leader, queue }: Origin, { scope, probes }: Health): number {
  // Those who wait probe by themselves.
  if (groupsOf(scope, queue.groups()).length > 0) return Infinity;
  const leaderAt = leader?.waitsUntil(scope, false, probes.startedAt(), Infinity) ?? 0;
  return Math.max(probes.idleAt(), leaderAt);
}

/** The outage was forgotten, so nobody knows that it is over: one after the other finds out. */
const forgottenAt = ({ inFlight }: Origin, now: number): number =>
  inFlight.size === 0 ? now : Infinity;
