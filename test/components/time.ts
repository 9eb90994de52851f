import { act } from '@testing-library/react';
import { vi } from 'vitest';

const startMs = Date.UTC(2026, 0, 1);

/** More than any run takes, unless it loops. */
const maxSteps = 5000;

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Does something, and lets all happen that takes no time: without MSW that is done within two turns. */
export const settle = (work: () => void): Promise<void> =>
  act(async () => {
    work();
    await turn();
    await turn();
  });

/** Virtual time, faster than that of `steadfetch/testing`, and for nothing but these components. */
export function startTime() {
  vi.useFakeTimers({
    now: startMs,
    toFake: [
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'Date',
      'performance',
      'requestAnimationFrame',
      'cancelAnimationFrame',
    ],
  });
  let steps = 0;
  return {
    /** Lets time pass from timer to timer, and shows each moment. */
    async advance(ms: number, onMoment: () => void): Promise<void> {
      let isOver = false;
      setTimeout(() => (isOver = true), ms);
      while (!isOver && steps < maxSteps) {
        steps += 1;
        await settle(() => vi.advanceTimersToNextTimer());
        onMoment();
      }
    },
    isLooping: () => steps >= maxSteps,
    end: () => vi.useRealTimers(),
  };
}
