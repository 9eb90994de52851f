import type { Clock } from '../lib/clock.ts';
import { isRefusal, type Outcome } from '../policy/outcome.ts';
import type { Permit, Target } from './ask.ts';
import { everything } from './wait-queue.ts';
import type { Health } from './health/endpoint-health.ts';
import { type Recovery, shownBy } from './health/health.ts';
import { type Reach, Unreadable } from './health/unreadable.ts';
import { isQuiet, type Origin } from './origin.ts';

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

  /** Records how the attempt of a permit has ended. */
  record(permit: GrantedPermit, outcome: Outcome, error: unknown): void {
    const { target, sentAt, endProbe } = permit;
    if (!isRefusal(outcome)) this.origin.limits.accept(target.limitScope, sentAt, target.resource);
    const isUnread = outcome.kind === 'network' && this.unreadable.has(target.endpoint);
    const shown = isUnread ? undefined : shownBy(outcome);
    if (shown === 'alive') return this.#recordAnswer(permit);
    endProbe?.(shown === 'outage');
    if (shown === undefined) return;
    this.lastFailure = error;
    // A timeout of an attempt sent before the recovery does not show the present state.
    if (outcome.kind !== 'timeout' || sentAt > this.recoveredAt)
      this.#recordFailure(permit, outcome.kind);
  }

  /** Records the good answer to a read that was given up. */
  recordLate(target: Target, sentAt: number): void {
    this.#recordAnswer({ target, sentAt });
    this.pump();
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

  #recordAnswer({ target, sentAt, endProbe }: Answered): void {
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

  #recordFailure({ target, sentAt }: GrantedPermit, kind: Outcome['kind']): void {
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

/** An attempt that was answered. */
type Answered = Pick<GrantedPermit, 'target' | 'sentAt'> & Partial<Pick<GrantedPermit, 'endProbe'>>;

/** The permit of an attempt that was sent: in its turn, as a probe, or at once. */
export class GrantedPermit implements Permit {
  readonly isProbe: boolean;
  readonly isTrial: boolean;
  readonly target: Target;
  readonly sentAt: number;
  /** For a probe: reports to the schedule whether it failed. */
  readonly endProbe: ReturnType<Health['probes']['start']> | undefined;
  readonly #outcomes: Outcomes;
  readonly #isInTurn: boolean;
  #isOver = false;

  constructor(outcomes: Outcomes, target: Target, probed?: Health, isInTurn = false) {
    const { limits, health, leader, queue, inFlight } = outcomes.origin;
    this.isProbe = !!probed;
    this.isTrial = this.isProbe || isInTurn;
    this.target = target;
    this.#outcomes = outcomes;
    this.#isInTurn = isInTurn;
    this.sentAt = outcomes.clock.now();
    inFlight.add(this);
    limits.spend(target.limitScope, (scope) => queue.sizeOf(scope));
    health.recordSent(target.endpoint, this.sentAt);
    this.endProbe = probed?.probes.start();
    if (probed) leader?.lead(probed.scope);
  }

  free(): void {
    const { origin, pump } = this.#outcomes;
    if (this.#freeSlot() && origin.queue.size > 0) pump();
  }

  end(outcome?: Outcome, error?: unknown, isUnused?: boolean): void {
    const { origin, pump } = this.#outcomes;
    this.#freeSlot();
    if (this.#isOver) return;
    this.#isOver = true;
    const wasQuiet = isQuiet(origin);
    if (outcome) this.#outcomes.record(this, outcome, error);
    else this.endProbe?.(false, isUnused);
    // A success changes nothing while nothing waits and nothing is known.
    if (!wasQuiet || (outcome && outcome.kind !== 'ok')) pump();
  }

  /** @returns whether it had its slot until now. */
  #freeSlot(): boolean {
    const { inFlight, slowStart } = this.#outcomes.origin;
    const wasTaken = inFlight.delete(this);
    if (wasTaken && this.#isInTurn) slowStart.finish();
    return wasTaken;
  }
}
