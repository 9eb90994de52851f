import {
  focusManager,
  hashKey,
  type Query,
  type QueryFunction,
  type QueryFunctionContext,
  type QueryKey,
} from '@tanstack/react-query';
import { reportOf } from '../fetch/failure-report.ts';
import type { LiveOperation, Signals } from '../fetch/live-operation.ts';
import type { Operations } from '../fetch/operations.ts';
import type { Passage } from '../fetch/passage.ts';
import type { Ends } from './end-with-query.ts';
import type { Clock, Random } from '../lib/clock.ts';
import type { FailureLedger } from './failure-ledger.ts';
import { warn } from '../fetch/warn.ts';
import { codeOf } from '../lib/made-by.ts';
import type { FallbackCode } from './fallback.ts';
import { showPause } from './show-pause.ts';
import { isServer } from './is-server.ts';
import { instanceBehind, ownFallback, ownPolicy } from './registry.ts';
import type { AnyPersister, SteadyPersister } from './steadfetch.ts';
import type { Wake } from './wake.ts';
import { refetchWhenBack } from './when-back.ts';

/** What makes operations of queries. */
export interface PersisterContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly operations: Operations;
  readonly signals: Signals;
  readonly ledger: FailureLedger;
  /** The newest operation of each query. */
  readonly byQuery: WeakMap<Query, LiveOperation>;
  readonly pauseBefore: Passage['pauseBefore'];
  readonly giveBack: Passage['giveBack'];
  readonly wake: Wake;
  readonly ends: Ends;
}

/**
 * Makes an operation of every query fetch: it begins here, counts its attempts, and is found again
 * by the error that it ends in.
 */
export function createPersister(shared: PersisterContext, inner?: AnyPersister): SteadyPersister {
  const { operations, signals, ledger, byQuery, ends, wake } = shared;
  const persister: AnyPersister = async (queryFn, context, query) => {
    ends.watch(context.client);
    wake.meet(context.client);
    const live = nextAttempt(query);
    let isRead = false;
    try {
      live.mayBeOffline = isOfflineToo(query);
      // Asked at its end: `retryNow` lends it another mode for its start.
      live.isUnproven = () => isOfflineToo(query);
      live.isForeground = () => isAwaited(query);
      live.onChange = () => showPause(context.client, query, live, shared);
      const linked = linkSignal(context, (signal) => {
        isRead = true;
        signals.set(signal, live);
      });
      // React Query has read that of an infinite query already.
      const { value: known } = Object.getOwnPropertyDescriptor(context, 'signal') ?? {};
      if (known instanceof AbortSignal) signals.set(known, live);
      if (inner)
        return await operations.attempt(live, () => inner(passed(queryFn, live), linked, query));
      // In the same turn: in StrictMode its first component goes before the next one.
      if (isKeptBack(live)) await untilItsTurn(live);
      return await operations.attempt(live, () => queryFn(linked));
    } catch (error) {
      if (process.env.NODE_ENV !== 'production' && !isRead) warnIfUnlinked(operations, live, error);
      if (live.phase !== 'ended') {
        ledger.add(live, error);
        refetchWhenBack(query, live, shared);
        const fallback = ownFallback(query.options);
        if (fallback && operations.conclude(live, error).kind === 'stop') {
          const { given, show } = codeOf<FallbackCode>(fallback);
          const data = await show(shared, given, query, live, error, context.client);
          if (data !== undefined) {
            operations.end(live, 'failed');
            return data as never;
          }
        }
      }
      throw error;
    } finally {
      shared.giveBack(live);
    }
  };
  return persister as SteadyPersister;

  /** A persister of the app's is asked offline; its request needs the network like any other. */
  function isOfflineToo({ options: { networkMode = 'online' } }: Query): boolean {
    return networkMode === 'always' || (networkMode === 'offlineFirst' && !inner);
  }

  /** It is known that its attempt would not be sent. */
  function isKeptBack({ gate, sent, mayBeOffline }: LiveOperation): boolean {
    return !!gate && !!sent && !gate.isOpen(sent, mayBeOffline);
  }

  async function untilItsTurn(live: LiveOperation): Promise<void> {
    await shared.pauseBefore(live);
    // Nobody asks about it any more.
    if (live.phase === 'ended') throw live.lastError;
  }

  /** For the app's persister, which may restore what it has stored, whatever is known of the origin. */
  function passed<T, K extends QueryKey>(
    queryFn: QueryFunction<T, K>,
    live: LiveOperation,
  ): QueryFunction<T, K> {
    return async (context) => {
      if (isKeptBack(live)) await untilItsTurn(live);
      return operations.run(live, () => queryFn(context));
    };
  }

  function nextAttempt(query: Query): LiveOperation {
    const { fetchFailureCount, fetchFailureReason } = query.state;
    // A fetch that the server has begun fails once before it comes here.
    const known = byQuery.get(query) ?? reportOf(fetchFailureReason, 0).live;
    // A new fetch starts with no failure.
    if (known && fetchFailureCount > 0 && known.attempt === fetchFailureCount) {
      operations.next(known);
      byQuery.set(query, known);
      return known;
    }
    if (known) operations.end(known, 'superseded');
    const policy = ownPolicy(query.options);
    const attempt = fetchFailureCount + 1;
    const live = operations.begin(
      'query',
      // Where it went before, it will go again: so it can be paused before its queryFn runs.
      {
        policy,
        attempt,
        isSingle: policy?.maxRetries === 0,
        gate: known?.gate,
        sent: known?.sent,
        isUrged: known?.isUrged,
        endsWithQuery: !isServer() && !instanceBehind(query.options.retry),
      },
      query.queryKey,
    );
    byQuery.set(query, live);
    return live;
  }
}

/** In development: the queryFn awaited something and then sent a request without its signal. */
function warnIfUnlinked(operations: Operations, live: LiveOperation, error: unknown): void {
  const sent = reportOf(error, 0).live;
  if (!sent || sent === live || sent.ref.kind !== 'call' || !sent.isSingle) return;
  warn(
    operations,
    'unlinked query',
    `A request of the query ${hashKey(live.ref.queryKey ?? [])} is not known as its own: its queryFn ` +
      `called steady after an await, without its signal. The query's policy (timeout, whenDown) ` +
      `does not hold for it, and it cannot be cancelled. Pass the signal on: ` +
      `queryFn: async ({ signal }) => steady.json(url, { signal }).`,
  );
}

/**
 * Whether a user waits for it: the page is seen, and there is nothing of it to show. A query without
 * observers is awaited by whoever fetches it, such as a router; more of an infinite one, by a user.
 */
function isAwaited({ state }: Query): boolean {
  const isMore = !!state.fetchMeta?.fetchMore;
  return focusManager.isFocused() && (state.data === undefined || isMore);
}

/**
 * The same context, which tells when its signal is read. It must not be read here: that opts the
 * query into being cancelled on unmount. So the getter is passed on.
 */
function linkSignal<C extends QueryFunctionContext>(
  context: C,
  onRead: (signal: AbortSignal) => void,
): C {
  const linked: Partial<C> = {};
  for (const key of Reflect.ownKeys(context) as (keyof C)[])
    if (key !== 'signal') linked[key] = context[key];
  const get = (): AbortSignal => {
    const { signal } = context;
    onRead(signal);
    return signal;
  };
  return Object.defineProperty(linked as C, 'signal', { enumerable: true, get });
}
