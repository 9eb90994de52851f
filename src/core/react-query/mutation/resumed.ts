import { onlineManager, type QueryClient } from '@tanstack/react-query';
import type { WaitingWrites } from '../../fetch/order/waiting-writes.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Emitter } from '../../operation/events.ts';
import { isSafeMethod } from '../../policy/operation.ts';

/** A mutation that continues begins its request within this time, if it is sent through Steadfetch. */
const begunMs = 50;
/** The time within which a resumed mutation is usually answered. */
const answeredMs = 5000;

/**
 * Lets the mutations that React Query paused offline go before reads, too: a refetch on focus waits until their requests
 * are answered. It does not wait for the mutations themselves, because their `onSettled` may await that very refetch.
 *
 * @returns a function that stops this.
 */
export function watchResumed(
  clients: () => readonly QueryClient[],
  waitingWrites: WaitingWrites,
  emitter: Emitter,
): () => void {
  let remove = (): void => {};
  const stop = onlineManager.subscribe((isOnline) => {
    remove();
    // React Query itself waits for the mutations of a scope, one after the other, before it refetches.
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

/** Lets the writes that begin from now on go before reads. @returns a function that ends this. */
function follow(waitingWrites: WaitingWrites, emitter: Emitter): () => void {
  const resumedAt = systemClock.now();
  const open = new Set<number>();
  const unsubscribe = emitter.subscribe((event) => {
    // A query reads, whatever its method: GraphQL reads by POST.
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
