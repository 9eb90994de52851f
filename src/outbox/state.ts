import type { Clock } from '../core/lib/clock.ts';
import { createStore, keepIfSame, type Readable } from '../core/lib/store.ts';
import type { NotDurableReason } from './store/disk.ts';
import type { Counts } from './store/row-store.ts';

/**
 * The number of entries by state. A count is undefined while it is not known: before the database is open, and while it
 * cannot be read.
 */
export interface OutboxState extends Readonly<Record<keyof Counts, number | undefined>> {
  /** `durable`, or the reason for which new entries are only in this page. */
  readonly storage: 'opening' | 'durable' | NotDurableReason;
  /**
   * The browser found the database damaged when this page opened it, and deleted it: undelivered entries of earlier pages
   * are lost. Only Chromium reports this.
   */
  readonly wasErased: boolean;
}

export interface Display extends Readable<OutboxState> {
  readonly show: (state: Partial<OutboxState>) => void;
  /** Counts the entries again, soon, because they have changed. */
  readonly refresh: () => void;
  /** Calls the listener when entries may have changed, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void;
  readonly dispose: () => void;
}

/** @param count - Counts the entries; undefined if they cannot be read. */
export function createDisplay(
  clock: Clock,
  count: (nowMs: number) => Promise<Counts | undefined>,
): Display {
  const { getState, subscribe, set } = createStore(unopened);
  const changes = createStore(0);
  const show: Display['show'] = (next) => set(keepIfSame(getState(), { ...getState(), ...next }));
  const refresh = new Refresh(clock, async () => {
    show((await count(clock.now())) ?? unknown);
    changes.set(changes.getState() + 1);
  });
  return {
    getState,
    subscribe,
    show,
    refresh: () => refresh.request(),
    onChange: changes.subscribe,
    dispose: () => refresh.dispose(),
  };
}

/** Whether an entry is, or may be, still to be sent. */
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

/** The least pause between two loads. */
const gapMs = 100;
/** The pause is also this many times the duration of a load, because there may be thousands of entries. */
const restRatio = 10;
/** The longest pause, because a load during a sleep of the device seems to take hours. */
const longestRestMs = 10_000;

/** Calls `load` soon after a request, and again only after a pause. */
export class Refresh {
  readonly #clock: Clock;
  readonly #load: () => Promise<void>;
  #isBusy = false;
  #isRequested = false;
  #isOver = false;
  #timer: unknown;

  constructor(clock: Clock, load: () => Promise<void>) {
    this.#clock = clock;
    this.#load = load;
  }

  request(): void {
    this.#isRequested = true;
    if (!this.#isBusy && !this.#isOver) void this.#run();
  }

  dispose(): void {
    this.#isOver = true;
    this.#clock.clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    this.#isBusy = true;
    this.#isRequested = false;
    const startedAt = this.#clock.now();
    await this.#load();
    if (this.#isOver) return;
    const tookMs = this.#clock.now() - startedAt;
    const restMs = Math.min(Math.max(gapMs, restRatio * tookMs), longestRestMs);
    this.#timer = this.#clock.setTimeout(() => {
      this.#isBusy = false;
      if (this.#isRequested) void this.#run();
    }, restMs);
  }
}
