import type { Clock } from '../lib/clock.ts';

/** So long is nothing loaded again, at least. */
const gapMs = 100;
/** And so many times as long as loading took: that counts the rows, and may be thousands. */
const restRatio = 10;
/** But never longer: where the machine slept meanwhile, loading seems to have taken hours. */
const longestRestMs = 10_000;

/** Calls `load` soon after it is asked, and not again before it is through and a moment has passed. */
export function createRefresh(
  clock: Clock,
  load: () => Promise<void>,
): { readonly ask: () => void; readonly dispose: () => void } {
  let isBusy = false;
  let isAsked = false;
  let isOver = false;
  let timer: unknown;
  const run = async (): Promise<void> => {
    isBusy = true;
    isAsked = false;
    const startedAt = clock.now();
    await load();
    if (isOver) return;
    const tookMs = clock.now() - startedAt;
    const restMs = Math.min(Math.max(gapMs, restRatio * tookMs), longestRestMs);
    timer = clock.setTimeout(() => {
      isBusy = false;
      if (isAsked) void run();
    }, restMs);
  };
  return {
    ask() {
      isAsked = true;
      if (!isBusy && !isOver) void run();
    },
    dispose() {
      isOver = true;
      clock.clearTimeout(timer);
    },
  };
}
