import type { Clock } from './clock.ts';

/** Notices that the machine, or the page, was asleep while something waited. */
export interface Heart {
  /** Looks at once: whoever wakes first must not take the time asleep for a wait. */
  readonly look: () => void;
  /**
   * `onWake` is told how long it was, where something waited. The returned function is told until when
   * something does, in epoch milliseconds: `Infinity` where that is not known, 0 where nothing does.
   */
  readonly join: (onWake: (asleepMs: number) => void) => (until: number) => void;
}

/** How long after waking it is noticed, at the most. */
const beatMs = 2000;

/** A beat that is later than this has slept. */
const latestMs = 1000;

/** A hidden tab's timers are as late as that while it is awake, and its time goes on. */
const throttledMs = 61_000;

/** Has no timer, and never sleeps. */
export const noHeart: Heart = { look() {}, join: () => () => {} };

/**
 * Timers stand still while a machine sleeps, and the wall clock does not. One coarse beat serves all
 * that waits.
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
