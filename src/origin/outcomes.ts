import type { Clock } from '../lib/clock.ts';
import type { Outcome } from '../policy/outcome.ts';
import { everything } from './wait-queue.ts';
import { type Recovery, shownBy } from './health/health.ts';
import { type Reach, Unreadable } from './health/unreadable.ts';
import type { Origin } from './origin.ts';

/** How an attempt ended. */
export interface Ended {
  readonly endpoint: string;
  readonly sentAt: number;
  /** It was the probe: tells the schedule whether it has failed. */
  readonly endProbe: ((hasFailed: boolean) => void) | undefined;
  readonly outcome: Outcome;
  readonly error: unknown;
}

/** What the outcomes of attempts say of their origin: to its health, its slow start, and the other tabs. */
export class Outcomes {
  readonly #clock: Clock;
  readonly #origin: Origin;
  readonly #unreadable: Unreadable;
  #lastFailure: unknown;
  #recoveredAt = -Infinity;

  /** @param onEnd - Called where an outage has ended, and no attempt has shown that. */
  constructor(clock: Clock, origin: Origin, reach: Reach | undefined, onEnd: () => void) {
    const { health, leader } = origin;
    this.#clock = clock;
    this.#origin = origin;
    this.#unreadable = new Unreadable(clock, health, reach, () => {
      for (const scope of health.reset(true)) {
        leader?.say({ kind: 'up', scope });
        leader?.leave(scope);
      }
      onEnd();
    });
  }

  /** An attempt has ended. */
  record(ended: Ended): void {
    const { endpoint, sentAt, endProbe, outcome, error } = ended;
    const isUnread = outcome.kind === 'network' && this.isUnreadable(endpoint);
    const shown = isUnread ? undefined : shownBy(outcome);
    if (shown === 'alive') return this.#recordAnswer(ended);
    endProbe?.(shown === 'outage');
    if (shown === undefined) return;
    this.#lastFailure = error;
    // What was sent before the end of an outage, and hangs, says nothing of how the origin is now.
    if (outcome.kind !== 'timeout' || sentAt > this.#recoveredAt) this.#recordFailure(ended);
  }

  /** What was down is up: those who wait for it go, one after the other. */
  recover(recovery: Recovery | undefined, firstMs = 0, latencyMs = 0): void {
    if (!recovery) return;
    const { leader, slowStart, queue } = this.#origin;
    this.#recoveredAt = this.#clock.now();
    leader?.leave(recovery.scope);
    this.#releaseWatchers();
    // It was up when the probe went that was answered.
    const downMs = recovery.downMs - latencyMs;
    slowStart.recover({ ...recovery, downMs }, queue.groups(), firstMs);
  }

  /** What is down is not known to be, and that it is over is not known either: the next good answer says so. */
  forget(): void {
    this.#origin.health.reset();
    this.#origin.leader?.leave(everything);
  }

  /** When the latest outage here ended, of the origin or of an endpoint. */
  recoveredAt(): number {
    return this.#recoveredAt;
  }

  /** The error of the last attempt that showed an outage. */
  lastFailure(): unknown {
    return this.#lastFailure;
  }

  /** The origin answers, and this endpoint only with what the page may not read, as far as is known. */
  isUnreadable(endpoint: string): boolean {
    return this.#unreadable.has(endpoint);
  }

  #recordAnswer({ endpoint, sentAt, endProbe }: Ended): void {
    const { health, latency, leader, slowStart } = this.#origin;
    const latencyMs = this.#clock.now() - sentAt;
    this.#unreadable.recordAnswer();
    if (!endProbe && !slowStart.isUnderWay()) latency.learn(endpoint, latencyMs);
    const recovery = health.recordSuccess(endpoint, sentAt);
    if (recovery) leader?.say({ kind: 'up', scope: recovery.scope });
    this.recover(recovery, 0, latencyMs);
    this.#releaseWatchers();
    // Also that of the probe: a server that is back with a long queue is not asked for more at once.
    if (endProbe || this.#isOfRecovery(endpoint, sentAt))
      slowStart.observe(latency.isFast(endpoint, latencyMs), latencyMs);
  }

  #recordFailure({ endpoint, sentAt, outcome: { kind } }: Ended): void {
    const { health, leader, network, slowStart } = this.#origin;
    const down = health.recordFailure(endpoint, sentAt, kind);
    // A browser that says offline and a request without an answer: one more is not needed.
    if (kind !== 'http' && health.maxChance >= 0 && network.isDoubtful()) health.follow(everything);
    // An endpoint that is broken while others answer must not slow them down.
    if (this.#isOfRecovery(endpoint, sentAt) && !health.isBroken(endpoint))
      slowStart.observe(false, this.#clock.now() - sentAt);
    if (down) {
      const isWider = down.scope !== everything && slowStart.isUnderWay(everything);
      if (!isWider) slowStart.stop();
      // Perhaps no user waits in this tab: the tab in which one waits sends the probe.
      leader?.say({ kind: 'down', scope: down.scope, isProbed: false });
    }
    this.#unreadable.recordFailure(endpoint, sentAt, kind === 'network');
  }

  /** It was sent after the end of an outage, while those go who waited for that. */
  #isOfRecovery(endpoint: string, sentAt: number): boolean {
    return this.#origin.slowStart.isUnderWay(endpoint) && sentAt >= this.#recoveredAt;
  }

  /** Tells those whose endpoint is not down any more, each once. */
  #releaseWatchers(): void {
    const { health, watchers } = this.#origin;
    for (const watcher of watchers)
      if (!health.isDown(watcher.place.endpoint) && watchers.delete(watcher)) watcher.onBack();
  }
}
