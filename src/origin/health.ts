import type { Clock, Random } from '../lib/clock.ts';
import { createProbeSchedule, type ProbeSchedule } from './probe-schedule.ts';

/** When an endpoint or an origin is taken for down. */
export interface HealthOptions {
  /**
   * The chance, at the usual failure rate, below which consecutive failures are an outage.
   * @default 0.002
   */
  readonly maxChance?: number | undefined;
}

/** What is known of an endpoint or an origin: up, or down and probed. */
export interface Health {
  readonly isDown: () => boolean;
  /** Since when it has been down. */
  readonly downSince: () => number;
  /** When the first of the failures since the last good answer was sent. */
  readonly failingSince: () => number;
  /** Failures since the last good answer. */
  readonly failures: () => number;
  readonly probes: ProbeSchedule;
  /** An attempt failed. @returns whether that has shown an outage. */
  readonly recordFailure: (endpoint: string, sentAt: number) => boolean;
  /** An attempt was answered. @returns whether an outage is over. */
  readonly recordSuccess: (sentAt: number) => boolean;
  /** Another tab has found it down. */
  readonly follow: () => void;
  /** It is taken for up, whatever it was. */
  readonly reset: () => void;
}

/** How much of the usual failure rate is kept at a failure and, because few are seen, at a success. */
const keptAtFailure = 0.9;
const keptAtSuccess = 0.97;
/** What is answered so soon after it was taken for down was no outage: it fails now and then. */
const leastOutageMs = 500;
/** The least that it is taken for. */
const leastRate = 0.04;

/**
 * The health of one endpoint (`leastEndpoints` 1) or of an origin (2: it is down only if different
 * endpoints have failed, with no good answer since).
 *
 * n failures in a row are an outage when pⁿ ≤ `maxChance`, p being the usual failure rate (a moving
 * average without the present failures): two for what is healthy, seven for what fails every fifth
 * time. So it is fast for a tab with one request in five seconds, and not false for a busy one.
 *
 * A good answer ends an outage. Of an endpoint it must have been sent no earlier than what failed;
 * that an origin is not down, any answer shows.
 */
export function createHealth(
  clock: Clock,
  random: Random,
  leastEndpoints: 1 | 2,
  { maxChance = 0.002 }: HealthOptions,
): Health {
  const probes = createProbeSchedule(clock, random);
  const failed = new Set<string>();
  let usualRate = 0;
  let failures = 0;
  let failingSince = Infinity;
  let failedSentAt = -Infinity;
  let downSince: number | undefined;

  const isDown = (): boolean => downSince !== undefined;
  const open = (): void => {
    downSince = clock.now();
    probes.begin();
  };
  const reset = (): void => {
    if (isDown()) probes.close();
    downSince = undefined;
    failures = 0;
    failingSince = Infinity;
    failed.clear();
  };
  return {
    isDown,
    downSince: () => downSince ?? clock.now(),
    failingSince: () => failingSince,
    failures: () => failures,
    probes,
    recordFailure(endpoint, sentAt) {
      failures++;
      failed.add(endpoint);
      failingSince = Math.min(failingSince, sentAt);
      failedSentAt = Math.max(failedSentAt, sentAt);
      const chance = Math.max(usualRate, leastRate) ** failures;
      if (isDown() || chance > maxChance || failed.size < leastEndpoints) return false;
      open();
      return true;
    },
    recordSuccess(sentAt) {
      const wasDown = isDown();
      if (wasDown && leastEndpoints === 1 && sentAt < failedSentAt) return false;
      // What failed in an outage says nothing of the usual; what failed beside what was answered does.
      const isOutage = wasDown && clock.now() - (downSince ?? 0) >= leastOutageMs;
      const kept = isOutage ? 1 : keptAtFailure ** failures;
      usualRate = (usualRate * kept + 1 - kept) * keptAtSuccess;
      reset();
      return wasDown;
    },
    follow() {
      if (!isDown()) open();
    },
    reset,
  };
}
