import type { Clock } from '../lib/clock.ts';
import { createStore, type Readable } from '../lib/store.ts';
import type { Outcome } from '../policy/outcome.ts';
import { type Recovery, shownBy } from './health.ts';
import type { Origin } from './origin.ts';
import { everything } from './wait-queue.ts';

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
  readonly recover: (recovery: Recovery | undefined, firstMs?: number) => void;
  /** What is down is not known to be, and nobody is told that it is over. */
  readonly forget: () => void;
  /** When the latest outage here ended, of the origin or of an endpoint. */
  readonly recoveredAt: () => number;
  /** Calls back at each end of an outage, of the origin or of an endpoint. */
  readonly onRecovery: Readable<object>['subscribe'];
  /** The error of the last attempt that showed an outage. */
  readonly lastFailure: () => unknown;
}

export function createOutcomes(
  clock: Clock,
  { health, leader, latency, slowStart, queue }: Origin,
): Outcomes {
  const recoveries = createStore<object>({});
  let lastFailure: unknown;
  let recoveredAt = -Infinity;
  /** An outage was forgotten, and nobody has been told that it is over. */
  let isEndOwed = false;

  const announce = (): void => recoveries.set({});
  const recover: Outcomes['recover'] = (recovery, firstMs = 0) => {
    if (!recovery) return;
    recoveredAt = clock.now();
    leader?.leave(recovery.scope);
    announce();
    slowStart.recover(recovery, queue.groups(), firstMs);
  };
  return {
    record(endpoint, sentAt, endProbe, outcome, error) {
      const shown = shownBy(outcome);
      const latencyMs = clock.now() - sentAt;
      // What was sent before, and hangs, says nothing of how the origin is now.
      const isOfRecovery = slowStart.isRecovery(endpoint) && sentAt >= recoveredAt;
      if (shown === undefined) endProbe?.(false);
      else if (shown === 'outage') {
        lastFailure = error;
        endProbe?.(true);
        const down = health.recordFailure(endpoint, sentAt);
        if (isOfRecovery) slowStart.observe(false, latencyMs);
        if (down) {
          slowStart.stop();
          // Nobody may wait for it here: whichever tab a user waits in probes.
          leader?.say({ kind: 'down', scope: down.scope, isProbed: false });
        }
      } else {
        if (!endProbe && !slowStart.isRecovery()) latency.learn(endpoint, latencyMs);
        if (isEndOwed) announce();
        isEndOwed = false;
        const recovery = health.recordSuccess(endpoint, sentAt);
        if (recovery) leader?.say({ kind: 'up', scope: recovery.scope });
        recover(recovery);
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
    onRecovery: recoveries.subscribe,
    lastFailure: () => lastFailure,
  };
}
