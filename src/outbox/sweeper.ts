import type { Clock } from '../lib/clock.ts';
import type { Engine } from './engine.ts';

/** A result waits so long for the tab that submitted. */
const keepResultMs = 600_000;

/** Forgets results that nobody has asked for. */
export interface Sweeper {
  /** Does so now, and again while there are results that are not old enough. */
  readonly sweep: (engine: Engine) => Promise<unknown>;
  /** Something was done: its result is forgotten when it is old enough. */
  readonly plan: () => void;
  readonly dispose: () => void;
}

export function createSweeper(clock: Clock, engineNow: () => Engine | undefined): Sweeper {
  let timer: unknown;
  let isAsked = false;
  let isOver = false;
  const sweep = async ({ store }: Engine): Promise<void> => {
    // After the clock was set back, they are not old enough for longer than was planned.
    if (await store.sweep(clock.now() - keepResultMs)) plan();
  };
  const plan = (): void => {
    isAsked = true;
    if (timer !== undefined || isOver) return;
    isAsked = false;
    timer = clock.setTimeout(() => {
      timer = undefined;
      const engine = engineNow();
      if (engine) sweep(engine).catch(engine.onError);
      // Something was done since.
      if (isAsked) plan();
    }, keepResultMs + 1000);
    clock.unref?.(timer);
  };
  return {
    sweep,
    plan,
    dispose() {
      isOver = true;
      clock.clearTimeout(timer);
    },
  };
}
