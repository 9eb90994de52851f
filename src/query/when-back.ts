import type { Query } from '@tanstack/react-query';
import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Operations } from '../fetch/operations.ts';
import { between } from '../origin/between.ts';
import type { Clock, Random } from '../policy/clock.ts';

interface WhenBackContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly operations: Operations;
  /** The newest operation of each query. */
  readonly byQuery: WeakMap<Query, LiveOperation>;
}

/** What failed in an outage is fetched again within this time after it: not all at once. */
const spreadMs = 1000;

/** What ends the watch of each query. */
const watches = new WeakMap<LiveOperation, () => void>();

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
  watches.get(live)?.();
  if (!gate || !sent || !gate.isDown(sent.endpoint)) return;
  if (operations.policyOf(live, sent).whenBack === 'leave') return;
  // It may be gone from the cache by then.
  const reference = new WeakRef(query);
  const stop = gate.onRecovery(() => {
    const failed = reference.deref();
    const isItsEnd = failed && byQuery.get(failed) === live && failed.state.status === 'error';
    if (isItsEnd && gate.isDown(sent.endpoint)) return;
    stop();
    if (!isItsEnd || failed.state.fetchStatus !== 'idle') return;
    clock.setTimeout(
      () => {
        const isLeft = byQuery.get(failed) !== live || failed.state.fetchStatus !== 'idle';
        if (!isLeft && failed.isActive()) void failed.fetch().catch(() => {});
      },
      between(random, 0, spreadMs),
    );
  });
  watches.set(live, stop);
}
