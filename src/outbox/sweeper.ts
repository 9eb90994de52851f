import type { Clock } from '../policy/clock.ts';
import type { Engine } from './engine.ts';

/** A result waits so long for the tab that submitted. */
const keepResultMs = 600_000;

/** Forgets results that nobody has asked for. */
export interface Sweeper {
  readonly sweep: (engine: Engine) => Promise<unknown>;
  /** Something was done: its result is forgotten when it is old enough. */
  readonly plan: () => void;
  readonly dispose: () => void;
}

export function createSweeper(clock: Clock, engineNow: () => Engine | undefined): Sweeper {
  let timer: unknown;
  let isAsked = false;
  let isOver = false;
  const sweep = ({ store }: Engine): Promise<unknown> => store.sweep(clock.now() - keepResultMs);
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
