import { type Clock, type Random, between } from '../lib/clock.ts';
import type { Recovery } from './health.ts';
import { everything, type Group, groupsOf } from './wait-queue.ts';

/** Lets what was paused go again, one after the other, as fast as the answers allow. */
export interface SlowStart {
  /** Something that was down is up: those who wait for it go, the first after this time. */
  readonly recover: (recovery: Recovery, all: readonly Group[], firstMs: number) => void;
  /** It is under way, for this endpoint if one is given. */
  readonly isUnderWay: (endpoint?: string) => boolean;
  /** The same, after an outage. */
  readonly isRecovery: (endpoint?: string) => boolean;
  readonly stop: () => void;
  /** When the next one may go. */
  readonly nextAt: () => number;
  /** One has gone. */
  readonly advance: () => void;
  /** One that has gone is answered, or is not waited for any more. */
  readonly finish: () => void;
  /** An answer came after so long, as fast as usual or not; or none did. */
  readonly observe: (isFast: boolean, latencyMs: number) => void;
}

/** What was paused goes within this share of the outage, if answers are fast. */
const startShare = 0.4;
const leastStartMs = 1000;
const mostStartMs = 12_000;
/** However few wait, they go no further apart than this, if answers are fast. */
const longestPlannedMs = 400;
/** A fast answer makes the gap shorter by this factor, down to this share of the planned one. */
const kept = 0.7;
const leastShare = 0.25;
/** After a slow answer the next goes after so many times what that one took. */
const latencyFactor = 10;
/** So far apart at most: as far as probes. */
const longestGapMs = 12_000;
/** What has gone within this time need not have its answer yet. */
const fastMs = 300;
/** A timer is late by less, as a rule: who it makes late does not make the next ones late. */
const lateMs = 100;

/**
 * Latency is the signal: failures come too late. None of the tabs that let go what they have paused sees
 * the others: so a slow answer counts at once, and each of ours that waits for its answer doubles the gap.
 */
export function createSlowStart(clock: Clock, random: Random): SlowStart {
  let isOn = false;
  let isAfterOutage = false;
  /** It is of this endpoint alone. */
  let only: string | undefined;
  let leastGapMs = 0;
  let gapMs = 0;
  let unanswered = 0;
  let lastAt = 0;
  let share = 0;

  const nextAt = (): number => {
    const overdue = isAfterOutage ? Math.max(0, unanswered - Math.floor(fastMs / gapMs)) : 0;
    return lastAt + share * Math.min(longestGapMs, gapMs * 2 ** overdue);
  };
  const isUnderWay: SlowStart['isUnderWay'] = (endpoint) =>
    isOn && (endpoint === undefined || only === undefined || only === endpoint);
  const begin = (groups: readonly Group[], overMs: number, firstMs = 0): void => {
    const count = groups.reduce((sum, { waiters }) => sum + waiters.length, 0);
    isOn = count > 0;
    gapMs = Math.min(longestPlannedMs, overMs / Math.max(1, count));
    leastGapMs = leastShare * gapMs;
    unanswered = 0;
    lastAt = clock.now() + firstMs;
    share = 0;
  };
  return {
    recover({ scope, downMs }, all, firstMs) {
      const groups = groupsOf(scope, all);
      // All of them before the first pause ends.
      const patienceMs = Math.min(...groups.map(({ expiresAt }) => expiresAt)) - clock.now();
      const overMs = Math.min(Math.max(downMs * startShare, leastStartMs), mostStartMs);
      begin(groups, Math.min(overMs, patienceMs), firstMs);
      isAfterOutage = true;
      only = scope === everything ? undefined : scope;
    },
    isUnderWay,
    isRecovery: (endpoint) => isAfterOutage && isUnderWay(endpoint),
    stop() {
      isOn = false;
    },
    nextAt,
    advance() {
      lastAt = Math.max(nextAt(), clock.now() - lateMs);
      share = between(random, 0.5, 1.5);
      unanswered++;
    },
    finish() {
      unanswered = Math.max(0, unanswered - 1);
    },
    observe(isFast, latencyMs) {
      if (isFast) gapMs = Math.max(leastGapMs, kept * gapMs);
      else gapMs = Math.max(gapMs, Math.min(longestGapMs, latencyFactor * latencyMs));
    },
  };
}
