import type { Clock } from '../lib/clock.ts';
import type { Engine } from './engine.ts';
import type { RowStorage } from './storage.ts';
import type { TabPorts } from '../tabs/lock.ts';

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

/**
 * Gives up what a page that is put away cannot hold, and looks again whenever somebody looks at it.
 * `onLeft`: something is to be sent, and the page may not be there to do it. @returns what ends it.
 */
export function watchPage(
  ports: TabPorts,
  storage: Pick<RowStorage, 'durable' | 'engines'>,
  onLeft: () => void,
  onLook: (wasAway: boolean) => void,
): () => void {
  let isAway = false;
  return ports.watch((now) => {
    const wasAway = isAway;
    isAway = now === 'away';
    const engine = storage.durable();
    if (now !== 'visible' && engine?.ownership.held()[0]) onLeft();
    if (isAway) return engine?.leave();
    void engine?.ownership.comeBack();
    for (const one of storage.engines()) one.worker.look();
    onLook(wasAway);
  });
}
