import type { Slot } from '../../lib/slot.ts';
import type { Query } from '@tanstack/react-query';
import type { LiveOperation } from '../../fetch/live-operation.ts';
import type { Operations } from '../../fetch/operations.ts';
import { between } from '../../lib/between.ts';
import type { Clock, Random } from '../../lib/clock.ts';
import { isServer } from '../is-server.ts';

interface WhenBackContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly operations: Operations;
  /** The newest operation of each query. */
  readonly byQuery: Slot<Query, LiveOperation>;
}

/** What failed in an outage is fetched again within this time after it: not all at once. */
const spreadMs = 1000;

/** What ends the watch of each query. */
const watches = new WeakMap<Query, () => void>();

/** It is gone from its cache, or fetched anew: nothing is to be fetched again for it. */
export function stopWatch(query: Query): void {
  watches.get(query)?.();
  watches.delete(query);
}

/**
 * Calls `onBack` when its endpoint is up again, unless `stopWatch` has been called before. What
 * waits keeps neither the query nor what is known of its failure: its client may be dropped.
 */
export function watchRecovery(
  query: Query,
  { gate, sent }: LiveOperation,
  onBack: (query: Query) => void,
): void {
  stopWatch(query);
  // On a server nobody looks, and queries go with their page.
  if (!gate || !sent || isServer()) return;
  const { endpoint } = sent;
  const reference = new WeakRef(query);
  const stop = gate.onRecovery(() => {
    const watched = reference.deref();
    if (watched && gate.isDown(endpoint)) return;
    stop();
    if (watched) onBack(watched);
  });
  watches.set(query, stop);
}

/**
 * A query that fails while its endpoint is down, and is still on screen at the end of the outage,
 * is fetched again then, once, as React Query does when the network is back.
 */
export function refetchWhenBack(
  query: Query,
  live: LiveOperation,
  { clock, random, operations, byQuery }: WhenBackContext,
): void {
  const { gate, sent } = live;
  // Without one it has sent nothing of ours.
  if (!gate || !sent) return;
  stopWatch(query);
  if (!gate.isDown(sent.endpoint)) return;
  if (operations.policyOf(live, sent).whenBack === 'leave') return;
  const own = new WeakRef(live);
  const isFailed = (failed: Query): boolean =>
    byQuery.get(failed) === own.deref() &&
    failed.state.status === 'error' &&
    failed.state.fetchStatus === 'idle';
  watchRecovery(query, live, (failed) => {
    if (!isFailed(failed)) return;
    clock.setTimeout(
      () => {
        if (isFailed(failed) && failed.isActive()) void failed.fetch().catch(() => {});
      },
      between(random, 0, spreadMs),
    );
  });
}
