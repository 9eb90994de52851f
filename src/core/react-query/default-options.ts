import { inDevelopment } from '../lib/development.ts';
import type { DefaultOptions } from '@tanstack/react-query';
import { checkNames, reject } from '../lib/input/check.ts';
import { warn } from '../lib/input/warn.ts';
import { isOurPersister, whatIsMade } from './instance.ts';
import { composePersister } from './query/compose-persister.ts';
import type { AnyPersister, Steadfetch } from './steadfetch.ts';

const names: readonly (keyof DefaultOptions)[] = ['queries', 'mutations', 'hydrate', 'dehydrate'];

/**
 * Lays an app's own default options over those of an instance, so that neither gets lost. A spread of
 * `steady.defaultOptions` beside your own `queries` silently drops all options of Steadfetch for queries.
 *
 * | yours | becomes |
 * |---|---|
 * | `retry` as a number, `true` or `false` | `maxRetries` of the policy, without a limit, or 0. What must not be sent again is still not. In development a warning says that `false` for all queries leaves next to nothing of the policy |
 * | `persister` | one that contains both, as `composePersister` makes it; `networkMode` is then `offlineFirst`, as React Query has it |
 * | anything else, also `retry` and `retryDelay` as functions | itself |
 *
 * @throws TypeError when an option is not as it must be.
 *
 * @example
 * ```ts
 * const client = new QueryClient({
 *   defaultOptions: mergeDefaultOptions(steady, { queries: { staleTime: 60_000, retry: 5 } }),
 * });
 * ```
 */
export function mergeDefaultOptions(steady: Steadfetch, yours: DefaultOptions): DefaultOptions {
  inDevelopment(() => {
    const { queryPolicy } = Object(steady) as Partial<Steadfetch>;
    if (!queryPolicy)
      reject('mergeDefaultOptions', 'its first argument', steady, whatIsMade(steady));
    checkNames('mergeDefaultOptions', yours, names);
    if (yours.queries?.retry === false) warnOfNoRetry(steady);
  });
  const { queries: ownQueries, mutations: ownMutations, ...rest } = yours;
  const { retry, persister, ...queries } = set(ownQueries);
  const { retry: mutationRetry, ...mutations } = set(ownMutations);
  const isTheirs = persister !== undefined && !isOurPersister(persister);
  return {
    ...rest,
    queries: {
      ...steady.defaultOptions.queries,
      ...(isNumeric(retry) ? steady.queryPolicy({ maxRetries: numberOf(retry) }) : set({ retry })),
      ...(isTheirs ? composePersister(steady, persister as AnyPersister) : set({ persister })),
      ...queries,
    },
    mutations: {
      ...steady.defaultOptions.mutations,
      ...(isNumeric(mutationRetry)
        ? steady.mutationPolicy({ maxRetries: numberOf(mutationRetry) })
        : set({ retry: mutationRetry })),
      ...mutations,
    },
  };
}

/** Warns of `retry: false` for all queries. Usually it is older than the policy, and switches most of it off. */
function warnOfNoRetry(steady: Steadfetch): void {
  warn(
    steady,
    'no retry',
    'mergeDefaultOptions: your default options have queries: { retry: false }. It is kept, so no query is retried, ' +
      'and most of the policy does nothing. Leave it out to have the policy; if it is meant, say ' +
      '...steady.queryPolicy({ maxRetries: 0 }).',
    'retry/default-options.md',
  );
}

/** Leaves out undefined options, so that they overwrite nothing. */
function set<T extends object>(options: T | undefined): Partial<T> {
  return Object.fromEntries(
    Object.entries(options ?? {}).filter(([, value]) => value !== undefined),
  ) as Partial<T>;
}

const isNumeric = (retry: unknown): retry is number | boolean =>
  typeof retry === 'number' || typeof retry === 'boolean';

const numberOf = (retry: number | boolean): number => (retry === true ? Infinity : Number(retry));
