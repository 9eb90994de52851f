import type { Clock } from '../policy/clock.ts';
import type { Budget } from './budget.ts';
import { type Circuit, longestProbeMs } from './circuit.ts';
import { createLatency } from './latency.ts';
import type { Release } from './release.ts';
import type { Sign } from './sign.ts';
import type { TripRule } from './trip-rule.ts';

/** What the ends of attempts show of an origin. */
export interface Evidence {
  /** How often each endpoint has failed as the canary in this outage. */
  readonly failedProbes: ReadonlyMap<string, number>;
  /** The error of the last attempt that showed an outage. */
  readonly lastFailure: () => unknown;
  /** The origin was found to be well: what was sent before says nothing of it any more. */
  readonly recovered: () => void;
  /**
   * An attempt is over, at its headers.
   * @returns what it has shown: that an outage is over, that there is one, or nothing new.
   */
  readonly see: (
    endpoint: string,
    isCanary: boolean,
    sign: Sign,
    latencyMs: number,
    error: unknown,
  ) => 'recovery' | 'outage' | 'nothing';
}

/** Where more than these of the attempts fail as a rule, one that does says nothing of the pace. */
const usualFailureRate = 0.04;

export function createEvidence(
  clock: Clock,
  circuit: Circuit,
  rule: TripRule,
  budget: Budget,
  release: Release,
): Evidence {
  const latency = createLatency();
  const failedProbes = new Map<string, number>();
  let lastFailure: unknown;
  let recoveredAt = -Infinity;
  /** One success since the recovery. */
  let isProven = true;

  const seeCanary = (endpoint: string, sign: Sign): ReturnType<Evidence['see']> => {
    if (sign.kind === 'outage') {
      failedProbes.set(endpoint, (failedProbes.get(endpoint) ?? 0) + 1);
      circuit.endProbe('failed', sign.weight);
      return 'outage';
    }
    circuit.endProbe(sign.kind === 'alive' ? 'succeeded' : 'unknown', 0);
    return sign.kind === 'alive' ? 'recovery' : 'nothing';
  };
  const seeOutage = (endpoint: string, weight: number): void => {
    const wasClosed = circuit.isClosed();
    // The first one after a canary shows that it was a fluke.
    if (wasClosed && !isProven && !failedProbes.has(endpoint)) circuit.open(weight);
    else circuit.fail(weight);
    if (wasClosed && !circuit.isClosed()) release.stop();
    if (rule.usualRate() <= usualFailureRate) release.pace.see(false);
  };
  const seeAnswer = (endpoint: string, isSuccess: boolean, latencyMs: number): void => {
    circuit.succeed();
    if (isSuccess) budget.succeed();
    isProven = true;
    failedProbes.delete(endpoint);
    if (!release.isUnderWay()) return latency.learn(endpoint, latencyMs);
    release.pace.see(latency.isFast(endpoint, latencyMs, release.isLong()));
    latency.note(endpoint, latencyMs);
  };

  return {
    failedProbes,
    lastFailure: () => lastFailure,
    recovered() {
      isProven = false;
      recoveredAt = clock.now();
    },
    see(endpoint, isCanary, sign, latencyMs, error) {
      const isStale = clock.now() - latencyMs < recoveredAt;
      const seen: Sign = isStale && sign.kind === 'outage' ? { kind: 'nothing' } : sign;
      if (seen.kind === 'outage') lastFailure = error;
      // Another tab may have found it well in the meantime, or this one was given up for the next.
      const isGivenUp = latencyMs >= longestProbeMs && circuit.isProbing();
      if (isCanary && !circuit.isClosed() && !isGivenUp) {
        if (seen.kind === 'alive') latency.note(endpoint, latencyMs);
        return seeCanary(endpoint, seen);
      }
      if (seen.kind === 'alive') seeAnswer(endpoint, seen.isSuccess, latencyMs);
      if (seen.kind !== 'outage') return 'nothing';
      seeOutage(endpoint, seen.weight);
      return 'outage';
    },
  };
}
