import type { Clock } from '../lib/clock.ts';
import { isRefusal, type Outcome } from '../policy/outcome.ts';
import type { Target } from './ask.ts';
import { everything } from './wait-queue.ts';
import { type Recovery, shownBy } from './health/health.ts';
import { type Reach, Unreadable } from './health/unreadable.ts';
import type { Origin } from './origin.ts';

/** The end of an attempt. */
interface Ended {
  readonly target: Target;
  readonly sentAt: number;
  /** For a probe: reports to the schedule whether it failed. */
  readonly endProbe: ((hasFailed: boolean) => void) | undefined;
  readonly outcome: Outcome;
  readonly error: unknown;
}

/** Passes the outcomes of attempts on to the health of their origin, its slow start, and the other tabs. */
export class Outcomes {
  readonly clock: Clock;
  readonly origin: Origin;
  /** Sends what may be sent now. */
  readonly pump: () => void;
  readonly unreadable: Unreadable;
  /** The error of the last attempt that showed an outage. */
  lastFailure: unknown;
  /** When the latest outage of the origin or of an endpoint ended. */
  recoveredAt: number = -Infinity;

  constructor(clock: Clock, origin: Origin, reach: Reach | undefined, pump: () => void) {
    const { health, leader } = origin;
    this.clock = clock;
    this.origin = origin;
    this.pump = pump;
    this.unreadable = new Unreadable(clock, health, reach, () => {
      for (const scope of health.reset(true)) {
        leader?.post({ kind: 'up', scope });
        leader?.leave(scope);
      }
      pump();
    });
  }

  /** Records the end of an attempt. */
  record(ended: Ended): void {
    const { target, sentAt, endProbe, outcome, error } = ended;
    if (!isRefusal(outcome)) this.origin.limits.accept(target.limitScope, sentAt);
    const isUnread = outcome.kind === 'network' && this.unreadable.has(target.endpoint);
    const shown = isUnread ? undefined : shownBy(outcome);
    if (shown === 'alive') return this.#recordAnswer(ended);
    endProbe?.(shown === 'outage');
    if (shown === undefined) return;
    this.lastFailure = error;
    // A timeout of an attempt sent before the recovery does not show the present state.
    if (outcome.kind !== 'timeout' || sentAt > this.recoveredAt) this.#recordFailure(ended);
  }

  /** Starts the slow start after a recovery. */
  recover(recovery: Recovery | undefined, firstMs = 0, latencyMs = 0): void {
    if (!recovery) return;
    const { leader, slowStart, queue } = this.origin;
    this.recoveredAt = this.clock.now();
    leader?.leave(recovery.scope);
    this.#releaseWatchers();
    // The outage ended before the successful probe was sent.
    const downMs = recovery.downMs - latencyMs;
    slowStart.recover({ ...recovery, downMs }, queue.groups(), firstMs);
  }

  /** Forgets all outages without announcing a recovery, which only an answer shows. */
  forget(): void {
    this.origin.health.reset();
    this.origin.leader?.leave(everything);
  }

  #recordAnswer({ target, sentAt, endProbe }: Ended): void {
    const { endpoint } = target;
    const { health, latency, leader, slowStart } = this.origin;
    const latencyMs = this.clock.now() - sentAt;
    this.unreadable.recordAnswer();
    if (!endProbe && !slowStart.isUnderWay()) latency.learn(endpoint, latencyMs);
    const recovery = health.recordSuccess(target, sentAt);
    if (recovery) leader?.post({ kind: 'up', scope: recovery.scope });
    this.recover(recovery, 0, latencyMs);
    this.#releaseWatchers();
    // The probe's latency counts, too: a server that recovers with a long queue gets no burst.
    if (endProbe || this.#isOfRecovery(endpoint, sentAt))
      slowStart.observe(latency.isFast(endpoint, latencyMs), latencyMs);
  }

  #recordFailure({ target, sentAt, outcome: { kind } }: Ended): void {
    const { endpoint } = target;
    const { health, leader, network, slowStart } = this.origin;
    const down = health.recordFailure(target, sentAt, kind);
    // If the browser says offline, one request without an answer is enough.
    if (kind !== 'http' && network.isDoubtful()) health.follow(everything);
    // A broken endpoint must not slow down the others, which answer.
    if (this.#isOfRecovery(endpoint, sentAt) && !health.isBroken(endpoint))
      slowStart.observe(false, this.clock.now() - sentAt);
    if (down) {
      const isWider = down.scope !== everything && slowStart.isUnderWay(everything);
      if (!isWider) slowStart.stop();
      // Not as the leader: the tab in which a user waits sends the probe.
      leader?.post({ kind: 'down', scope: down.scope, isProbed: false });
    }
    this.unreadable.recordFailure(endpoint, sentAt, kind === 'network');
  }

  /** Whether the attempt was sent during the slow start. */
  #isOfRecovery(endpoint: string, sentAt: number): boolean {
    return this.origin.slowStart.isUnderWay(endpoint) && sentAt >= this.recoveredAt;
  }

  /** Calls each watcher whose endpoint is no longer down, once. */
  #releaseWatchers(): void {
    const { health, watchers } = this.origin;
    for (const watcher of watchers)
      if (!health.isDown(watcher.place.endpoint) && watchers.delete(watcher)) watcher.onBack();
  }
}
