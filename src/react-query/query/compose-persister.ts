import { instanceOfSteady } from '../instance.ts';
import type { AnyPersister, Steadfetch, SteadyPersister } from '../steadfetch.ts';

/** The options of a query that has a persister of the app's own. */
export interface ComposedPersister {
  readonly persister: SteadyPersister;
  /** As React Query has it for a query with a persister: it is asked offline, too. */
  readonly networkMode: 'offlineFirst';
}

/**
 * Puts a persister of the app's own inside ours, which it would otherwise replace: spread the result
 * into a query's options, or into the default options of queries. What is stored is shown offline,
 * too, and while the origin is down; only a request waits.
 *
 * @throws TypeError when its first argument is not what `createSteadfetch` returns.
 *
 * @example
 * ```ts
 * const own = composePersister(steady, (queryFn, context) => queryFn(context));
 * useQuery({ queryKey, queryFn, ...own });
 * ```
 */
export function composePersister(steady: Steadfetch, persister: AnyPersister): ComposedPersister {
  const { persist } = instanceOfSteady(steady, 'composePersister');
  return { persister: persist(persister), networkMode: 'offlineFirst' };
}
