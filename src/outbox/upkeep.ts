import type { Clock } from '../lib/clock.ts';
import { toUrl } from '../lib/input/url.ts';
import type { Emitter } from '../operation/events.ts';
import type { TabPorts } from '../tabs/lock.ts';
import type { Engine } from './delivery/engine.ts';
import type { OtherTabs } from './messages.ts';
import { type Display, isAnyLeft } from './state.ts';
import type { EntryStorage } from './storage.ts';

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
  storage: Pick<EntryStorage, 'durable' | 'engines'>,
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

/**
 * So often is one origin told of. With the at most 4 s that a woken entry waits, both together are within
 * the 5 s that are promised.
 */
const gapMs = { here: 600, others: 300 } as const;

/** The requests that go well, of whomever: what the outbox has put off for their origin need not wait. */
export interface Successes {
  /** One has gone well at this origin, in another tab. */
  readonly hear: (origin: string) => void;
  /**
   * A wait was decided at this time, in epoch milliseconds, and is written only now: what went well in
   * between has not ended it. `origin` is undefined where it is not known, and any is meant.
   */
  readonly recheck: (origin: string | undefined, decidedAt: number) => void;
  readonly dispose: () => void;
}

/**
 * Watches the requests of this instance: where one has gone well, here or in another tab, what waits for
 * its origin goes soon, and the other tabs are told of one here. No success is lost: what comes too soon
 * after another is told of a moment later.
 */
export function watchSuccesses(
  emitter: Emitter,
  clock: Clock,
  storage: Pick<EntryStorage, 'engines'>,
  display: Pick<Display, 'getState'>,
  { post }: Pick<OtherTabs, 'post'>,
): Successes {
  const latest = new Map<string, number>();
  const here = createThrottle(clock, gapMs.here, (origin) => {
    for (const { worker } of storage.engines()) worker.wake(origin);
  });
  const others = createThrottle(clock, gapMs.others, (origin) => {
    if (isAnyLeft(display.getState())) post({ kind: 'up', origin });
  });
  const hear = (origin: string): void => {
    latest.set(origin, clock.now());
    here.tell(origin);
  };
  const unsubscribe = emitter.subscribe((event) => {
    if (event.type !== 'request:end' || event.outcome.kind !== 'ok') return;
    const origin = toUrl(event.url)?.origin;
    if (origin === undefined) return;
    hear(origin);
    others.tell(origin);
  });
  return {
    hear,
    recheck(origin, decidedAt) {
      for (const [name, at] of latest)
        if ((origin ?? name) === name && at >= decidedAt && at <= clock.now()) here.tell(name);
    },
    dispose() {
      unsubscribe();
      here.dispose();
      others.dispose();
    },
  };
}

interface Throttle {
  readonly tell: (origin: string) => void;
  readonly dispose: () => void;
}

/** Tells of each origin at once, or when the gap since the last time is over. */
function createThrottle(clock: Clock, leastMs: number, act: (origin: string) => void): Throttle {
  /** Those that were told of just now, and whether there is more to tell. */
  const told = new Map<string, boolean>();
  let isOver = false;
  const tell = (origin: string): void => {
    if (isOver || told.has(origin)) {
      told.set(origin, true);
      return;
    }
    told.set(origin, false);
    act(origin);
    const timer = clock.setTimeout(() => {
      const isMore = told.get(origin);
      told.delete(origin);
      if (isMore) tell(origin);
    }, leastMs);
    clock.unref?.(timer);
  };
  return {
    tell,
    dispose() {
      isOver = true;
    },
  };
}
