import type { Line } from './contender.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** What passes in one beat, in the clock's own milliseconds. */
const beatMs = 1000;

const clocks = new WeakMap<Line, ReturnType<typeof createPacedClock>>();

/**
 * A clock that goes as many times faster as the line says, while the machine keeps up: each of its
 * seconds takes a round trip to the server. So the server has had ten turns before a time limit of ten
 * seconds is over, however busy the machine is. All tabs of a line have the same.
 */
export function pacedClock(line: Line): ReturnType<typeof createPacedClock> {
  const clock = clocks.get(line) ?? createPacedClock(line);
  clocks.set(line, clock);
  return clock;
}

function createPacedClock({ url, speed }: Line) {
  const timers = new Set<Timer>();
  let nowMs = Date.now();
  let isBeating = false;

  const firstUntil = (endMs: number): Timer | undefined => {
    let first: Timer | undefined;
    for (const timer of timers)
      if (timer.at <= endMs && timer.at < (first?.at ?? Infinity)) first = timer;
    return first;
  };
  const beat = async (): Promise<void> => {
    isBeating = true;
    while (timers.size > 0) {
      await Promise.all([
        new Promise((over) => void setTimeout(over, beatMs / speed)),
        fetch(new URL('/ping', url)),
      ]);
      const endMs = nowMs + beatMs;
      for (let due; (due = firstUntil(endMs));) {
        timers.delete(due);
        nowMs = Math.max(nowMs, due.at);
        due.callback();
      }
      nowMs = endMs;
    }
    isBeating = false;
  };
  return {
    now: () => nowMs,
    setTimeout(callback: () => void, delayMs: number): Timer {
      const timer = { at: nowMs + delayMs, callback };
      timers.add(timer);
      if (!isBeating) void beat();
      return timer;
    },
    clearTimeout: (timer: unknown) => void timers.delete(timer as Timer),
  };
}
