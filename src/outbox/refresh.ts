import type { Clock } from '../policy/clock.ts';

/** What is shown is at most so old. */
const gapMs = 100;

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
    await load();
    if (isOver) return;
    timer = clock.setTimeout(() => {
      isBusy = false;
      if (isAsked) void run();
    }, gapMs);
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
