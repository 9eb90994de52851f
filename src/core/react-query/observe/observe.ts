import type {
  Query,
  QueryClient,
  QueryFunction,
  QueryFunctionContext,
  QueryKey,
} from '@tanstack/react-query';
import type { RateLimitCode } from '../../headers/rate-limit.ts';
import { systemClock } from '../../lib/clock.ts';
import { inDevelopment } from '../../lib/development.ts';
import { type MadeBy, code } from '../../lib/input/made-by.ts';
import { shareMarks } from '../../lib/input/warn.ts';
import { delayOfReactQuery } from '../../policy/backoff.ts';
import { unmarkMade } from '../misuse.ts';
import { instanceOfSteady, register, registerPersister, registerSteady } from '../instance.ts';
import type {
  AnyPersister,
  QueryPolicy,
  Steadfetch,
  SteadfetchConfig,
  SteadyPersister,
} from '../steadfetch.ts';
import { Comparison, ShadowQueries } from './shadow-queries.ts';
import { KnownAnswers } from './known-answers.ts';

/** The limits of an instance that only watches: nothing waits for them. */
const noLimits: RateLimitCode = {
  by: 'rateLimitFields',
  isOff: true,
  read: () => undefined,
  readRefusal: () => undefined,
};

/** The options of the instance that the app uses. Its requests are sent once, without a key, a limit or a pause. */
const plain = ({ apis, policy, ...config }: SteadfetchConfig): SteadfetchConfig => ({
  ...config,
  apis: apis?.map(({ match, expect, endpoint, outcomes }) => ({
    match,
    expect,
    endpoint,
    outcomes,
  })),
  policy: { ...policy, maxRetries: 0, timeout: Infinity, whenDown: 'fail', whenBack: 'leave' },
  health: false,
  connectivity: undefined,
  tabs: undefined,
  rateLimit: { [code]: noLimits },
  concurrency: undefined,
});

/** The code of observing. It makes one instance out of two. */
export interface ObserveCode {
  readonly by: 'observeOnly';
  readonly observe: (
    config: SteadfetchConfig,
    create: (config: SteadfetchConfig) => Steadfetch,
  ) => Steadfetch;
}

/**
 * Makes an instance that only watches, for the option `observe`. It decides, and emits its decisions to `subscribe`, but
 * changes nothing: queries have React Query's own retries, and nothing is paused, keyed, limited or sent again.
 * `steady.report()` says what it would have done.
 *
 * @example
 * ```ts
 * import { createSteadfetch, observeOnly } from 'steadfetch';
 *
 * export const watching = createSteadfetch({ observe: observeOnly() });
 * ```
 */
export function observeOnly(): MadeBy<'observeOnly'> {
  const made: ObserveCode = { by: 'observeOnly', observe };
  return { [code]: made };
}

/**
 * Makes an instance that only watches. A second instance, `ifOn`, makes all decisions and sends nothing: its requests are
 * answered as the app's own were.
 */
function observe(
  config: SteadfetchConfig,
  create: (config: SteadfetchConfig) => Steadfetch,
): Steadfetch {
  const answers = new KnownAnswers(config.clock ?? systemClock);
  const comparison = new Comparison();
  const real = create(plain(config));
  const ifOn = create({
    ...config,
    connectivity: undefined,
    tabs: undefined,
    fetch: answers.transport,
  });
  inDevelopment(() => shareWarnings(real, ifOn));
  const shadows = new ShadowQueries(ifOn, comparison);
  compareRequests(real, ifOn, { answers, comparison, shadows });

  const instance = instanceOfSteady(real, 'observe');
  const queries = register(
    {
      // React Query's own delay. The instance is found by this function.
      retryDelay: delayOfReactQuery.bind(undefined),
      persister: createPersister(real, shadows, comparison),
      networkMode: 'online' as const,
    },
    instance,
  );
  const { fetch, rawFetch, json } = real;
  const steady: Steadfetch = {
    ...ifOn,
    fetch,
    rawFetch,
    json,
    // Without `retry`, so that React Query's own default applies.
    defaultOptions: { queries, mutations: {} } as unknown as Steadfetch['defaultOptions'],
    queryPolicy: () => queries as unknown as QueryPolicy,
    mutationPolicy: () => ({}) as never,
    report: () => comparison.report(),
    dispose() {
      inDevelopment(() => unmarkMade(steady));
      shadows.dispose();
      ifOn.dispose();
      real.dispose();
    },
  };
  // `mutationOptions` and other functions that take this instance really send.
  registerSteady(steady, instance);
  return steady;
}

interface Compared {
  readonly answers: KnownAnswers;
  readonly comparison: Comparison;
  readonly shadows: ShadowQueries;
}

/** Counts the requests of both instances. The requests of the app show how those of `ifOn` are answered. */
function compareRequests(
  real: Steadfetch,
  ifOn: Steadfetch,
  { answers, comparison, shadows }: Compared,
): void {
  real.subscribe((event) => {
    if (event.type !== 'request:start' && event.type !== 'request:end') return;
    answers.record(event);
    if (event.type === 'request:end') return;
    comparison.countRequest('app');
    shadows.recordRequest(event);
  });
  ifOn.subscribe((event) => {
    if (event.type === 'pause:start') comparison.countPause(event.operation.id);
    if (event.type !== 'request:start') return;
    comparison.countRequest('if-on');
    answers.expect(event);
  });
}

/** Lets both instances warn once together, because the app sees one instance. */
function shareWarnings(real: Steadfetch, ifOn: Steadfetch): void {
  const [one, other] = [instanceOfSteady(real, 'observe'), instanceOfSteady(ifOn, 'observe')];
  shareMarks(one.operations, other.operations);
  shareMarks(one.emitter, other.emitter);
}

/** The persister of `real`, whose attempts the shadows follow. */
function createPersister(
  real: Steadfetch,
  shadows: ShadowQueries,
  comparison: Comparison,
): SteadyPersister {
  const own = real.defaultOptions.queries.persister as unknown as AnyPersister;
  const watched = new Set<QueryClient>();
  const watch = (app: QueryClient): void => {
    if (watched.has(app)) return;
    watched.add(app);
    app.getQueryCache().subscribe((event) => {
      const { type, query } = event;
      if (type === 'updated' && event.action.type === 'error') comparison.countFailure('app');
      if (type === 'observerRemoved' && query.getObserversCount() === 0)
        shadows.hide(query.queryHash);
      if (type === 'removed') shadows.forget(query.queryHash);
    });
  };
  const persister = <T, K extends QueryKey>(
    queryFn: QueryFunction<T, K>,
    context: QueryFunctionContext<K>,
    query: Query,
  ): Promise<T> => {
    watch(context.client);
    return shadows.follow(query, () => own(queryFn, context, query) as Promise<T>);
  };
  return registerPersister(persister as SteadyPersister);
}
