import { hashKey, type Query } from '@tanstack/react-query';
import { shown } from '../lib/url.ts';
import { warn } from '../lib/warn.ts';
import type { LiveOperation } from '../operation/operation.ts';
import { instanceBehind, isOurPersister } from './instance.ts';

// All of this is for development: an app that has lost our options works, and is as without us.

const remedy =
  'new QueryClient({ defaultOptions: mergeDefaultOptions(steady, yours) }) keeps both (docs/retry.md#defaultoptions).';

/** A user may ask again by hand; React Query asks three times more. */
const mostFailures = 2;

/** So many requests of nobody are remembered, by their names. */
const maxStrays = 50;

/** The instances whose options a query has used. */
const used = new WeakSet<object>();

/** Notes that a query has the options of this instance, whatever its persister. */
export function noteUse(instance: object): void {
  used.add(instance);
}

/** Tells of a request of no operation that fails and is requested again, where no query has ever run. */
export function createStrayWatch(
  instance: object,
  hasQueries: () => boolean,
): (request: string, live: LiveOperation) => void {
  const strays = new Map<string, { readonly live: LiveOperation; readonly failures: number }>();
  return (request, live) => {
    // What writes is retried by nobody but a mutation.
    if (!/^(?:GET|HEAD) /.test(request) || used.has(instance) || hasQueries())
      return strays.clear();
    const before = strays.get(request);
    const failures = before?.live.failedRequests ? before.failures + 1 : 0;
    if (failures === mostFailures) {
      warn(
        instance,
        'lost options',
        `${shown(request.replace(/ \S*$/, ''))} has failed ${failures} times and is requested again, and no query has run with the ` +
          `options of this instance. If it is the request of a query, its QueryClient has lost them, as by a ` +
          `spread of defaultOptions beside queries of its own: ${remedy}`,
      );
    }
    strays.set(request, { live, failures });
    if (strays.size > maxStrays) strays.delete([...strays.keys()][0] ?? '');
  };
}

/** Tells of a QueryClient that has the options of mutations, and not those of queries. */
export function warnOfLostQueries(instance: object, queries: object | undefined): void {
  const { retry, retryDelay, persister } = { ...queries } as Query['options'];
  if (instanceBehind(retry) ?? instanceBehind(retryDelay)) return;
  if (persister && isOurPersister(persister)) return;
  warn(
    instance,
    'lost queries',
    `A QueryClient has the options of this instance for mutations, and not for queries: a spread of ` +
      `defaultOptions beside queries of its own loses them. ${remedy}`,
  );
}

/** Tells of a query whose persister has taken the place of ours: offline, what it has stored is not shown. */
export function warnOfPersister(instance: object, { queryKey, options }: Query): void {
  const { persister } = options;
  if (typeof persister !== 'function' || isOurPersister(persister)) return;
  warn(
    instance,
    'persister',
    `The query ${hashKey(queryKey)} has a persister that has taken the place of Steadfetch's: its ` +
      `attempts and its status are not known, and offline it is paused before it shows what is stored. ` +
      `Put yours inside: ...composePersister(steady, yours) (docs/retry.md#defaultoptions).`,
  );
}

/**
 * Tells of a query that is retried where the policy stops: a number of retries of its own counts for every
 * failure. React Query has just said that it goes on.
 */
export function warnOfOwnRetry(
  instance: object,
  { queryKey, options: { retry } }: Query,
  { decision }: LiveOperation,
): void {
  if (decision?.kind !== 'stop' || typeof retry === 'function') return;
  const maxRetries = retry === true ? 'Infinity' : `${Number(retry ?? 3)}`;
  warn(
    instance,
    'own retry',
    `The query ${hashKey(queryKey)} is retried by a retry of its own where the policy stops ` +
      `(${decision.reason}): given as a number, it counts for every failure, a 404 as well. Spread ` +
      `...steady.queryPolicy({ maxRetries: ${maxRetries} }) instead (docs/retry.md#defaultoptions).`,
  );
}
