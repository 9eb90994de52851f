import type { Clock } from './clock.ts';

/** Detects that the machine or the page slept while something waited. */
export interface Heart {
  /** Checks now: the first timer after a sleep must not take the sleep for waiting time. */
  readonly look: () => void;
  /**
   * Calls `onWake` after a sleep during which something waited, with the length of the sleep. The returned
   * function says until when something waits, in epoch milliseconds: `Infinity` if that is not known, 0 if
   * nothing waits.
   */
  readonly join: (onWake: (asleepMs: number) => void) => (until: number) => void;
}

/** The time between two beats: a sleep is detected at most so long after waking. */
const beatMs = 2000;

/** If a beat is later than this, the machine or the page slept. */
const latestMs = 1000;

/** The timers of a hidden tab may be so late although it is awake: then its waiting time counts. */
const throttledMs = 61_000;

/**
 * While a machine sleeps, its timers stand still and its wall clock does not. One slow beat serves
 * everything that waits.
 */
export function createHeart(clock: Clock): Heart {
  const waiting = new Map<(asleepMs: number) => void, number>();
  let beatAt = 0;
  let timer: unknown;

  const look = (): void => {
    const now = clock.now();
    const lateMs = now - beatAt - beatMs;
    if (lateMs <= latestMs) return;
    beatAt = now;
    for (const wake of waiting.keys()) wake(lateMs > throttledMs ? lateMs : 0);
  };
  const beat = (): void => {
    beatAt = clock.now();
    timer = clock.setTimeout(() => {
      look();
      for (const [wake, until] of waiting) if (until < clock.now()) waiting.delete(wake);
      if (waiting.size > 0) beat();
    }, beatMs);
    clock.unref?.(timer);
  };

  return {
    look,
    join: (onWake) => (until) => {
      const hadAny = waiting.size > 0;
      if (until > 0) waiting.set(onWake, until);
      else waiting.delete(onWake);
      if (waiting.size === 0) clock.clearTimeout(timer);
      else if (!hadAny) beat();
    },
  };
}
