import type { Clock, Random } from '../lib/clock.ts';
import { between } from '../lib/between.ts';

/** What is let go. */
interface Release {
  /** How many operations. */
  readonly count: number;
  /** They go within this time, if answers are fast. */
  readonly overMs: number;
  /** Only those of this endpoint. @default all of the origin */
  readonly endpoint?: string | undefined;
  /** The first goes after this time. @default 0 */
  readonly firstMs?: number | undefined;
  /** Something that was down is up again: answers set the pace. */
  readonly isRecovery: boolean;
}

/** Lets what was paused go again, one after the other, as fast as the answers allow. */
export interface SlowStart {
  readonly begin: (release: Release) => void;
  /** It is under way, for this endpoint if one is given. */
  readonly isUnderWay: (endpoint?: string) => boolean;
  /** The same, after an outage. */
  readonly isRecovery: () => boolean;
  readonly stop: () => void;
  /** When the next one may go. */
  readonly nextAt: () => number;
  /** One has gone. */
  readonly advance: () => void;
  /** An answer came, as fast as usual or not; or none did. */
  readonly observe: (isFast: boolean) => void;
}

/** However few wait, they go no further apart than this, if answers are fast. */
const longestGapMs = 400;
/** How the pace changes with each answer, and how slow it may become. */
const growth = 1.3;
const cut = 0.5;
const leastPace = 0.2;
const mostPace = 4;
/** A timer is late by less, as a rule: who it makes late does not make the next ones late. */
const lateMs = 100;

/** Latency is the signal: failures come too late. */
export function createSlowStart(clock: Clock, random: Random): SlowStart {
  let isOn = false;
  let isAfterOutage = false;
  let scope: string | undefined;
  let gapMs = 0;
  let pace = 1;
  let lastAt = 0;
  let share = 0;

  const nextAt = (): number => lastAt + (share * gapMs) / pace;
  return {
    begin({ count, overMs, endpoint, firstMs = 0, isRecovery }) {
      isOn = count > 0;
      isAfterOutage = isRecovery;
      scope = endpoint;
      gapMs = Math.min(longestGapMs, overMs / Math.max(1, count));
      pace = 1;
      lastAt = clock.now() + firstMs;
      share = 0;
    },
    isUnderWay: (endpoint) =>
      isOn && (endpoint === undefined || scope === undefined || scope === endpoint),
    isRecovery: () => isOn && isAfterOutage,
    stop() {
      isOn = false;
    },
    nextAt,
    advance() {
      lastAt = Math.max(nextAt(), clock.now() - lateMs);
      share = between(random, 0.5, 1.5);
    },
    observe(isFast) {
      if (!isAfterOutage) return;
      pace = Math.min(mostPace, Math.max(leastPace, pace * (isFast ? growth : cut)));
    },
  };
}
