import type { HoldReason } from '../policy/outcome.ts';
import type { Circuit } from './circuit.ts';
import type { Limit } from './limit.ts';
import type { Network } from './network.ts';
import type { Release } from './release.ts';
import type { Slots } from './slots.ts';
import { createStore, type Readable } from './store.ts';
import type { Held } from './waiting.ts';

/** How an origin is. */
export interface OriginState {
  readonly status: 'up' | 'recovering' | 'down' | 'rate-limited';
  /** When it is tried next, or takes requests again, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: number | undefined;
  /** Attempts that wait. */
  readonly waiting: number;
}

/** What all that is known of an origin comes to: whether its door is open, and else why not. */
export interface Outlook extends Readable<OriginState> {
  /** Whether something new may go at once; also something that need not leave the device. */
  readonly isOpen: (mayBeOffline?: boolean) => boolean;
  /** Nothing but a free place is waited for. */
  readonly isQueue: () => boolean;
  /** Why something new would wait now, and until when as far as is known. */
  readonly whyHeld: () => Held;
  /** Shows how it is now. @returns whether that is news for those who wait. */
  readonly update: (waiting: number) => boolean;
}

export function createOutlook(
  network: Network,
  circuit: Circuit,
  limit: Limit,
  slots: Slots,
  release: Release,
): Outlook {
  const { isOffline } = network;
  const { getState, subscribe, set } = createStore<OriginState>({
    status: 'up',
    retryAt: undefined,
    waiting: 0,
  });

  const isLimited = (): boolean => limit.easesAt() < Infinity;
  const reason = (): HoldReason => {
    if (isOffline()) return 'offline';
    return isLimited() ? 'rate-limited' : circuit.isClosed() ? 'queued' : 'server-down';
  };
  const status = (): OriginState['status'] => {
    if (isLimited()) return 'rate-limited';
    if (!circuit.isClosed()) return 'down';
    return release.isRecovery() ? 'recovering' : 'up';
  };
  const retryAt = (): number | undefined => {
    if (isLimited()) return limit.getState().releaseAt;
    // Nobody knows when a canary comes back, or whose turn is when.
    if (circuit.isClosed() || circuit.isProbing()) return undefined;
    const at = Math.max(circuit.timerAt(), limit.getState().releaseAt);
    return at < Infinity ? at : undefined;
  };

  return {
    getState,
    subscribe,
    isOpen: (mayBeOffline = false) =>
      circuit.isClosed() && !limit.isHolding() && slots.isFree() && (mayBeOffline || !isOffline()),
    isQueue: () => circuit.isClosed() && !limit.isHolding() && !isOffline(),
    // The origin itself is not to blame for a device that is offline.
    whyHeld: () => ({
      reason: reason(),
      retryAt: isOffline() ? network.retryAt() : retryAt(),
    }),
    update(waiting) {
      const before = getState();
      const now = status();
      const at = retryAt();
      const isNews = before.status !== now || before.retryAt !== at;
      if (isNews || before.waiting !== waiting) set({ status: now, retryAt: at, waiting });
      return isNews;
    },
  };
}
