import type { Clock } from '../core/lib/clock.ts';
import { createStore, keepIfSame, type Readable } from '../core/lib/store.ts';
import type { NotDurableReason } from './store/disk.ts';
import type { Counts } from './store/row-store.ts';

/**
 * How many entries there are, and where. A count is undefined while it is not known: before the database is open,
 * and while it cannot be read.
 */
export interface OutboxState extends Readonly<Record<keyof Counts, number | undefined>> {
  /** `durable`, or why new entries are only in this page at the moment. */
  readonly storage: 'opening' | 'durable' | NotDurableReason;
  /**
   * The browser has found the database damaged when this page opened it, and has deleted it: what earlier
   * pages had kept and not delivered is gone. Only Chromium says so.
   */
  readonly wasErased: boolean;
}

export interface Display extends Readable<OutboxState> {
  readonly show: (state: Partial<OutboxState>) => void;
  /** The entries have changed: they are counted again, soon. */
  readonly refresh: () => void;
  /** Calls the listener when entries may have changed, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void;
  readonly dispose: () => void;
}

/** @param count - Counts the entries; undefined where they cannot be read. */
export function createDisplay(
  clock: Clock,
  count: (nowMs: number) => Promise<Counts | undefined>,
): Display {
  const { getState, subscribe, set } = createStore(unopened);
  const changes = createStore(0);
  const show: Display['show'] = (next) => set(keepIfSame(getState(), { ...getState(), ...next }));
  const { request, dispose } = createRefresh(clock, async () => {
    show((await count(clock.now())) ?? unknown);
    changes.set(changes.getState() + 1);
  });
  return {
    getState,
    subscribe,
    show,
    refresh: request,
    onChange: changes.subscribe,
    dispose,
  };
}

/** Whether anything is, or may be, still to be sent. */
export const isAnyLeft = ({ due, waiting = 0, sending = 0, paused = 0 }: OutboxState): boolean =>
  due === undefined || due + waiting + sending + paused > 0;

const unknown = {
  due: undefined,
  waiting: undefined,
  sending: undefined,
  paused: undefined,
  dead: undefined,
  oldestAt: undefined,
};

export const unopened: OutboxState = /* @__PURE__ */ Object.freeze({
  ...unknown,
  storage: 'opening',
  wasErased: false,
});

/** So long is nothing loaded again, at least. */
const gapMs = 100;
/** And so many times as long as loading took: that counts the entries, and may be thousands. */
const restRatio = 10;
/** But never longer: where the machine slept meanwhile, loading seems to have taken hours. */
const longestRestMs = 10_000;

/** Calls `load` soon after it is asked, and not again before it is through and a moment has passed. */
export function createRefresh(
  clock: Clock,
  load: () => Promise<void>,
): { readonly request: () => void; readonly dispose: () => void } {
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
    request() {
      isAsked = true;
      if (!isBusy && !isOver) void run();
    },
    dispose() {
      isOver = true;
      clock.clearTimeout(timer);
    },
  };
}
