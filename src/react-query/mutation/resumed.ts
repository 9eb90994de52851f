import { onlineManager, type QueryClient } from '@tanstack/react-query';
import type { WaitingWrites } from '../../fetch/order/waiting-writes.ts';
import { systemClock } from '../../lib/clock.ts';

/** What React Query resumes has been answered by then, as a rule. */
const resumedMs = 5000;

/**
 * The mutations that React Query itself has paused while the device was offline go before reads, too: a refetch on
 * focus does not wait for them. @returns what stops the watch.
 */
export function watchResumed(
  clients: () => readonly QueryClient[],
  waitingWrites: WaitingWrites,
): () => void {
  let remove = (): void => {};
  const stop = onlineManager.subscribe((isOnline) => {
    remove();
    const resumedAt = systemClock.now();
    // React Query's refetch waits for those of a scope by itself, one after the other.
    const resumed = clients()
      .flatMap((client) => client.getMutationCache().getAll())
      .filter(({ state, options }) => state.isPaused && !options.scope);
    const isLeft = (): boolean => resumed.some(({ state }) => state.status === 'pending');
    if (!isOnline || resumed.length === 0) return;
    remove = waitingWrites.addSource(() => {
      const isAhead = systemClock.now() <= resumedAt + resumedMs && isLeft();
      if (!isAhead) remove();
      return isAhead;
    });
  });
  return () => {
    stop();
    remove();
  };
}
