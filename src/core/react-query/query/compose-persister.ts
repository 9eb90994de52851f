import { reject } from '../../lib/input/check.ts';
import { type InnerPersister, instanceOfSteady } from '../instance.ts';
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
 * @throws TypeError when its first argument is not what `createSteadfetch` returns, or its second no function.
 *
 * @example
 * ```ts
 * const own = composePersister(steady, (queryFn, context) => queryFn(context));
 * useQuery({ queryKey, queryFn, ...own });
 * ```
 */
export function composePersister(steady: Steadfetch, persister: AnyPersister): ComposedPersister {
  const { persist, operations } = instanceOfSteady(steady, 'composePersister');
  if (process.env.NODE_ENV !== 'production' && typeof persister !== 'function')
    reject('composePersister', 'its second argument', persister, 'a function, as persisterFn is');
  const inner: InnerPersister = (queryFn, context, query, operation, waitForTurn) => {
    const passed: typeof queryFn = async (given) => {
      const waiting = waitForTurn();
      if (waiting) await waiting;
      const outer = operations.makeCurrent(operation);
      try {
        return queryFn(given);
      } finally {
        operations.makeCurrent(outer);
      }
    };
    return [persister, [passed, context, query]];
  };
  return { persister: persist(inner), networkMode: 'offlineFirst' };
}
