import type { Clock } from '../lib/clock.ts';
import type { Outcome } from '../policy/outcome.ts';
import { forgetMs, type Health, type Recovery, shownBy } from './health.ts';
import type { Origin } from './origin.ts';
import { everything } from './group.ts';

/** What the outcomes of attempts say of their origin: to its health, its slow start, and the other tabs. */
export interface Outcomes {
  /** An attempt has ended. `endProbe` is that of a probe: it tells the schedule. */
  readonly record: (
    endpoint: string,
    sentAt: number,
    endProbe: ((hasFailed: boolean) => void) | undefined,
    outcome: Outcome,
    error: unknown,
  ) => void;
  /** What was down is up: those who wait for it go, one after the other. */
  readonly recover: (recovery: Recovery | undefined, firstMs?: number, latencyMs?: number) => void;
  /** What is down is not known to be, and nobody is told that it is over. */
  readonly forget: () => void;
  /** When the latest outage here ended, of the origin or of an endpoint. */
  readonly recoveredAt: () => number;
  /** The error of the last attempt that showed an outage. */
  readonly lastFailure: () => unknown;
  /** The origin answers, and this endpoint only with what the page may not read, as far as is known. */
  readonly isUnreadable: (endpoint: string) => boolean;
}

/** How to find out whether an origin answers at all, also where its answers may not be read. */
export interface Reach {
  /** A connectivity check was answered by it after this time. */
  readonly wasReached: (sinceMs: number) => boolean;
  /** Asks it once for any answer. */
  readonly ask: () => Promise<boolean>;
}

/** Tells those whose endpoint is not down any more, each once. */
function releaseWatchers({ health, watchers }: Origin): void {
  for (const watcher of watchers) {
    if (health.isDown(watcher.place.endpoint) || !watchers.delete(watcher)) continue;
    watcher.onBack();
  }
}

/**
 * Every attempt of an outage was rejected: that is what a server that is gone looks like, and one whose
 * answers the page may not read. `onEnd` is called where it was the second.
 */
export function createOutcomes(
  clock: Clock,
  origin: Origin,
  reach: Reach | undefined,
  onEnd: () => void,
): Outcomes {
  const { health, leader, latency, network, slowStart, queue } = origin;
  let lastFailure: unknown;
  let recoveredAt = -Infinity;
  /** An outage was forgotten, and nobody has been told that it is over. */
  let isEndOwed = false;

  /** When the origin was found to answer although the page may not read it. */
  let answersAt = -Infinity;
  let askedAt = -Infinity;
  let goodAt = -Infinity;

  const isUnreadable = (endpoint: string): boolean =>
    clock.now() - answersAt < forgetMs && health.answeredSentAt(endpoint) < answersAt;
  const endUnreadable = (): void => {
    answersAt = clock.now();
    for (const scope of health.reset(true)) {
      leader?.say({ kind: 'up', scope });
      leader?.leave(scope);
    }
    onEnd();
  };
  /** Once for an outage, and once a minute where nothing has been answered since. */
  const findAnswer = ({ downSince = 0 }: Health, sentAt: number): void => {
    if (reach?.wasReached(sentAt)) return endUnreadable();
    const now = clock.now();
    if (askedAt >= downSince || (now - askedAt < forgetMs && goodAt < askedAt)) return;
    askedAt = now;
    void reach?.ask().then((isAnswered) => isAnswered && endUnreadable());
  };
  const recover: Outcomes['recover'] = (recovery, firstMs = 0, latencyMs = 0) => {
    if (!recovery) return;
    recoveredAt = clock.now();
    leader?.leave(recovery.scope);
    releaseWatchers(origin);
    // It was up when the probe went that was answered.
    const downMs = recovery.downMs - latencyMs;
    slowStart.recover({ ...recovery, downMs }, queue.groups(), firstMs);
  };
  const recordFailure = (
    endpoint: string,
    sentAt: number,
    kind: Outcome['kind'],
    isOfRecovery: boolean,
  ): void => {
    const isRejected = kind === 'network';
    if (!isRejected) answersAt = -Infinity;
    const down = health.recordFailure(endpoint, sentAt, kind);
    // A browser that says offline and a request without an answer: one more is not needed.
    if (kind !== 'http' && health.maxChance >= 0 && network.isDoubtful()) health.follow(everything);
    // An endpoint that is broken while others answer must not slow them down.
    if (isOfRecovery && !health.isBroken(endpoint)) slowStart.observe(false, clock.now() - sentAt);
    if (down) {
      const isWider = down.scope !== everything && slowStart.isUnderWay(everything);
      if (!isWider) slowStart.stop();
      // Perhaps no user waits in this tab: the tab in which one waits sends the probe.
      leader?.say({ kind: 'down', scope: down.scope, isProbed: false });
    }
    const known = isRejected
      ? health.down().find(({ scope }) => [everything, endpoint].includes(scope))
      : undefined;
    if (known?.isRejected) findAnswer(known, sentAt);
  };
  return {
    record(endpoint, sentAt, endProbe, outcome, error) {
      const isRejected = outcome.kind === 'network';
      const shown = isRejected && isUnreadable(endpoint) ? undefined : shownBy(outcome);
      const latencyMs = clock.now() - sentAt;
      // What was sent before, and hangs, says nothing of how the origin is now.
      const isOfRecovery = slowStart.isUnderWay(endpoint) && sentAt >= recoveredAt;
      if (shown === undefined) endProbe?.(false);
      else if (shown === 'outage') {
        lastFailure = error;
        endProbe?.(true);
        const isOld = outcome.kind === 'timeout' && sentAt <= recoveredAt;
        if (!isOld) recordFailure(endpoint, sentAt, outcome.kind, isOfRecovery);
      } else {
        goodAt = clock.now();
        if (!endProbe && !slowStart.isUnderWay()) latency.learn(endpoint, latencyMs);
        if (isEndOwed) releaseWatchers(origin);
        isEndOwed = false;
        const recovery = health.recordSuccess(endpoint, sentAt);
        if (recovery) leader?.say({ kind: 'up', scope: recovery.scope });
        recover(recovery, 0, latencyMs);
        // Also that of the probe: a server that is back with a long queue is not asked for more at once.
        if (isOfRecovery || endProbe)
          slowStart.observe(latency.isFast(endpoint, latencyMs), latencyMs);
      }
    },
    recover,
    forget() {
      isEndOwed ||= health.down().length > 0;
      health.reset();
      leader?.leave(everything);
    },
    recoveredAt: () => recoveredAt,
    lastFailure: () => lastFailure,
    isUnreadable,
  };
}
