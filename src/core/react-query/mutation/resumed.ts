import { onlineManager, type QueryClient } from '@tanstack/react-query';
import type { WaitingWrites } from '../../fetch/order/waiting-writes.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Emitter } from '../../operation/events.ts';
import { isSafeMethod } from '../../policy/operation.ts';

/** A mutation that goes on has begun its request by then, if it is sent through Steadfetch. */
const begunMs = 50;
/** Its request has been answered by then, as a rule. */
const answeredMs = 5000;

/**
 * The mutations that React Query itself has paused while the device was offline go before reads, too: a refetch on
 * focus waits for the answers to their requests. It does not wait for the mutations: their `onSettled` may await
 * that very refetch. @returns what stops the watch.
 */
export function watchResumed(
  clients: () => readonly QueryClient[],
  waitingWrites: WaitingWrites,
  emitter: Emitter,
): () => void {
  let remove = (): void => {};
  const stop = onlineManager.subscribe((isOnline) => {
    remove();
    // React Query's refetch waits for those of a scope by itself, one after the other.
    const isAny = clients().some((client) =>
      client
        .getMutationCache()
        .getAll()
        .some(({ state, options }) => state.isPaused && !options.scope),
    );
    if (isOnline && isAny) remove = follow(waitingWrites, emitter);
  });
  return () => {
    stop();
    remove();
  };
}

/** From now on, the writes that begin go before reads. @returns what ends that. */
function follow(waitingWrites: WaitingWrites, emitter: Emitter): () => void {
  const resumedAt = systemClock.now();
  const open = new Set<number>();
  const unsubscribe = emitter.subscribe((event) => {
    // A query reads, whatever its method: GraphQL asks by POST.
    const isWrite = event.type === 'request:start' && event.operation.kind !== 'query';
    if (isWrite && !isSafeMethod(event.method)) open.add(event.request);
    else if (event.type === 'request:end') open.delete(event.request);
  });
  const end = (): void => {
    systemClock.clearTimeout(timer);
    unsubscribe();
    removeSource();
  };
  const timer = systemClock.setTimeout(end, answeredMs);
  const removeSource = waitingWrites.addSource(() => {
    const pastMs = systemClock.now() - resumedAt;
    const isAhead = pastMs <= begunMs || open.size > 0;
    if (!isAhead) end();
    return isAhead;
  });
  return end;
}
