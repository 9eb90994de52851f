import { createStore, type Readable } from './store.ts';

/** How many attempts may be in flight at once, and wait for a place. */
export interface SlotOptions {
  /** Attempts in flight: sent, and without headers yet. @default Infinity */
  readonly maxInFlight?: number | undefined;
  /** Attempts that wait for a place; one more is refused at once. @default Infinity */
  readonly maxQueued?: number | undefined;
  /** The longest wait for a place, in milliseconds. @default `holdMs` */
  readonly queueTimeoutMs?: number | undefined;
}

/** The places of a bulkhead. Its state is how many attempts are in flight. */
export interface Slots extends Readable<number> {
  readonly isFree: () => boolean;
  readonly take: () => void;
  /** At the headers of an attempt: its body takes no place. */
  readonly free: () => void;
}

export function createSlots({ maxInFlight = Infinity }: SlotOptions): Slots {
  const { getState, subscribe, set } = createStore(0);
  return {
    getState,
    subscribe,
    isFree: () => getState() < maxInFlight,
    take: () => set(getState() + 1),
    free: () => set(getState() - 1),
  };
}
