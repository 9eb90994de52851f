import type { Query, QueryCache, QueryClient } from '@tanstack/react-query';
import { systemClock } from '../lib/clock.ts';
import { forgetMade, replaceEarlier, wholeStack } from '../lib/browser/hot-update.ts';
import { findMeant } from '../lib/input/nearest.ts';
import { isMarked, mark, policyAlone, used, warn } from '../lib/input/warn.ts';
import { shown } from '../lib/input/url.ts';
import { reportOf } from '../operation/error-info.ts';
import { type Operation, operationOf } from '../operation/operation.ts';
import type { Operations } from '../operation/operations.ts';
import { hasFailed, hasForeignSignal, strayFailure } from '../operation/warn-of-loop.ts';
import { isIdempotentMethod } from '../policy/operation.ts';
import { instanceBehind, instanceOfSteady, isOurPersister, isServer } from './instance.ts';
import type { Steadfetch } from './steadfetch.ts';

// All of this is for development. Each of these mistakes leaves the app working, as without Steadfetch.

const remedy =
  'new QueryClient({ defaultOptions: mergeDefaultOptions(steady, yours) }) keeps both.';
const remedyPage = 'retry/default-options.md';

/** A user may try again by hand this often. React Query itself retries three times. */
const mostFailures = 2;

/** How many lone requests are remembered, by their names. */
const maxStrays = 50;

/** Records that a query has the options of this instance, whatever its persister. */
export function markAsUsed(instance: object): void {
  mark(instance, used);
}

/** Warns of a lone request that fails and is requested again, if no query has ever run with these options. */
export function createStrayWatch(
  instance: object,
  hasQueries: () => boolean,
): (request: string, operation: Operation) => void {
  const strays = new Map<string, { readonly operation: Operation; readonly failures: number }>();
  return (request, operation) => {
    // Only mutations retry a request that writes.
    const isUsed = [instance, policyAlone].some((one) => isMarked(one, used));
    if (!/^(?:GET|HEAD) /.test(request) || isUsed || hasQueries()) {
      strays.clear();
      return;
    }
    const before = strays.get(request);
    const failures = before && hasFailed(before.operation) ? before.failures + 1 : 0;
    if (failures === mostFailures) {
      warn(
        instance,
        'lost options',
        `${shown(request.replace(/ \S*$/, ''))} has failed ${failures} times and is requested again, and no query has run with the ` +
          `options of this instance. If it is the request of a query, its QueryClient has lost them, as by a ` +
          `spread of defaultOptions beside queries of its own: ${remedy}`,
        remedyPage,
      );
    }
    strays.set(request, { operation, failures });
    if (strays.size > maxStrays) strays.delete([...strays.keys()][0] ?? '');
  };
}

/** Warns of a QueryClient that has our options for mutations, but not for queries. */
export function warnOfLostQueries(instance: object, queries: object | undefined): void {
  const { retry, retryDelay, persister } = { ...queries } as Query['options'];
  if (instanceBehind(retry) ?? instanceBehind(retryDelay)) return;
  if (persister && isOurPersister(persister)) return;
  warn(
    instance,
    'lost queries',
    `A QueryClient has the options of this instance for mutations, and not for queries: a spread of ` +
      `defaultOptions beside queries of its own loses them. ${remedy}`,
    remedyPage,
  );
}

/** Warns of a query whose persister has replaced ours. Offline, it does not show what it has stored. */
export function warnOfPersister(instance: object, { queryHash, options }: Query): void {
  const { persister } = options;
  if (typeof persister !== 'function' || isOurPersister(persister)) return;
  warn(
    instance,
    'persister',
    `The query ${queryHash} has a persister that has taken the place of Steadfetch's: its ` +
      `attempts and its status are not known, and offline it is paused before it shows what is stored. ` +
      `Put yours inside: ...composePersister(steady, yours).`,
    remedyPage,
  );
}

/** Warns of a query that its own number of retries repeats although the policy stops. That number counts for every failure. */
export function warnOfOwnRetry(
  instance: object,
  { queryHash, options: { retry } }: Query,
  { errors: { decision } }: Operation,
): void {
  if (decision?.kind !== 'stop' || typeof retry === 'function') return;
  const maxRetries = retry === true ? 'Infinity' : `${Number(retry ?? 3)}`;
  warn(
    instance,
    'own retry',
    `The query ${queryHash} is retried by a retry of its own where the policy stops ` +
      `(${decision.reason}): given as a number, it counts for every failure, a 404 as well. Spread ` +
      `...steady.queryPolicy({ maxRetries: ${maxRetries} }) instead.`,
    remedyPage,
  );
}

const ofModule = 'made in a module';

/** Matches the evaluation of a module in a stack of Turbopack, Vite, webpack or Node. */
const evaluation =
  /module evaluation|runInlinedModule|__webpack_require__|ModuleJob\.run|Module\._compile/;

/** Checks where an instance is made. In a page, it replaces the one that the module made before a hot update. */
export function markMade(steady: Steadfetch): void {
  if (isServer()) return markOfModule(instanceOfSteady(steady, 'createSteadfetch').operations);
  markInstance(steady);
  replaceEarlier(steady, steady.subscribe);
}

/** Forgets an instance that was disposed of. */
export function unmarkMade(steady: Steadfetch): void {
  made = made.filter(({ instance }) => instance !== steady);
  forgetMade(steady);
}

/** Marks an instance that a module makes. That is fine in a script, but not on a server that renders pages. */
function markOfModule(instance: object): void {
  if (evaluation.test(wholeStack())) mark(instance, ofModule);
}

/** Warns if a server renders pages with an instance that a module has made. */
export function warnOfModule(instance: object): void {
  if (isMarked(instance, ofModule)) warnOfSharing(instance);
}

/** Warns of an instance that serves several QueryClients on a server, because each request has a QueryClient of its own. */
export function createSharingWatch(instance: object): (client: QueryClient) => void {
  let first: WeakRef<QueryClient> | undefined;
  return (client) => {
    first ??= new WeakRef(client);
    if (first.deref() !== client) warnOfSharing(instance);
  };
}

function warnOfSharing(instance: object): void {
  warn(
    instance,
    'shared',
    `An instance is shared by the requests of this server (it was made at module level, or serves several ` +
      `QueryClients), so a server that is down, or a 429, for one request fails those of other users. Call ` +
      `createSteadfetch for each request, beside new QueryClient.`,
    'ssr.md#an-instance-for-each-request',
  );
}

/** Warns of the status of a query that does not exist. */
export function warnOfUnknownKey(instance: object, queries: QueryCache, hash: string): void {
  const known = queries.getAll().map(({ queryHash }) => queryHash);
  const meant = findMeant(hash, known, {}, false);
  const hint = meant === undefined ? '' : ` Did you mean ${meant}?`;
  warn(
    instance,
    `unknown ${hash}`,
    `useRetryStatus is given the key ${hash}, and no query of this QueryClient has it: it says idle.${hint} ` +
      `Give the whole queryKey of the query.`,
    'retry.md#what-the-user-sees',
  );
}

/** After this many mutations without a key, and none with the watched key, a warning follows. */
const mostKeyless = 2;

/**
 * Warns of the status of a mutationKey that no mutation has, once a mutation has nearly that key, or a second mutation has
 * no key. Without such a sign the key may be right: before the button is pressed, there is no mutation.
 */
export function watchKeys(
  instance: object,
  isThere: (id: string) => boolean,
): (ids: readonly string[], watched: Iterable<string>) => void {
  const found = new Set<string>();
  const keyless = new Map<string, number>();
  return (ids, watched) => {
    for (const id of watched) {
      if (isThere(id)) found.add(id);
      // The id of a hook is no mutationKey.
      if (found.has(id) || !id.startsWith('[')) continue;
      const alike = ids.find((other) => areAlike(id, other));
      if (ids.length === 0) keyless.set(id, (keyless.get(id) ?? 0) + 1);
      const isKeyless = ids.length === 0 && keyless.get(id) === mostKeyless;
      if (alike === undefined && !isKeyless) continue;
      const cure = isKeyless
        ? `${mostKeyless} mutations without a mutationKey have been made: give it to the one that is meant`
        : `Did you mean ${alike}? It must be the whole mutationKey`;
      warn(
        instance,
        `unknown mutation ${id}`,
        `useMutationStatus is given the key ${id}, and no mutation of this QueryClient has had it: it says ` +
          `idle. ${cure}.`,
        'mutations.md#what-the-user-sees',
      );
    }
  };
}

/** Whether one key is the beginning of the other, or differs only in spelling. */
function areAlike(one: string, other: string): boolean {
  const begins = (short: string, long: string): boolean =>
    long.startsWith(`${short.slice(0, -1)},`);
  const letters = (hash: string): string =>
    hash.toLowerCase().replaceAll(/s(?=")|[^\p{L}\p{N}]/gu, '');
  return begins(one, other) || begins(other, one) || letters(one) === letters(other);
}

/** Warns of a request that is not retried because it is not known to be repeatable. */
export function warnOfUnrepeatable(
  instance: object,
  { errors: { decision, lastError }, ref }: Operation,
): void {
  if (decision?.kind !== 'stop' || decision.reason !== 'not-idempotent') return;
  const { method, url = '', api } = reportOf(lastError, 0).request ?? {};
  if (api?.isKeyless) return;
  // Another request, which is not known, may be the reason why it is not repeated.
  const isIt = method !== undefined && !isIdempotentMethod(method);
  const what = isIt ? `${method} ${shown(url)}`.trimEnd() : `A ${ref.kind}`;
  warn(
    instance,
    `unrepeatable ${ref.kind}`,
    `${what} has failed and is not sent again: it may have been done, and nothing says that it may be done ` +
      `twice. Declare that its API honours idempotency keys, apis: [{ match, idempotency: profiles.draft }], and ` +
      `use mutationOptions; or say that it does no harm, idempotent: true; or that it takes no keys, ` +
      `idempotency: 'none'.`,
    'mutations.md',
  );
}

/** This many instances within this time, made during renders, mean that every render makes one. */
const mostMade = 4;
const madeWithinMs = 10_000;
let made: { readonly instance: object; readonly at: number }[] = [];

/** Whether React renders now. Its development builds call components in this function. */
const isInRender = (): boolean => /renderWithHooks/.test(`${new Error().stack}`);

/** Warns if renders make instances. Each new instance has forgotten what the one before knew. */
function markInstance(instance: object): void {
  if (!isInRender()) return;
  const at = systemClock.now();
  made = made.filter((one) => at - one.at < madeWithinMs);
  made.push({ instance, at });
  if (made.length < mostMade) return;
  warn(
    markInstance,
    'instances',
    `createSteadfetch has been called by renders ${mostMade} times within ${madeWithinMs / 1000} s. Each render ` +
      `forgets what is down, and leaves timers behind: call it once, in a module, beside new QueryClient.`,
    'retry.md#anti-patterns',
  );
}

/**
 * Warns if a request of a query cannot be linked to it: the queryFn sent it after an await without its signal or, with
 * `isPassed`, passed its signal on to a client that gave fetch another one.
 */
export function warnIfUnlinked(
  operations: Operations,
  { queryHash }: Query,
  operation: Operation,
  error: unknown,
  isPassed: boolean,
): void {
  const report = reportOf(error, 0);
  const sent = operationOf(report);
  if (sent) {
    const isOurs = sent !== operation && sent.ref.kind === 'call' && sent.isLone;
    // urql takes no signal.
    if (!isOurs || hasForeignSignal(sent) !== isPassed) return;
  } else {
    // A client may have made its own error, which does not carry our report.
    const isLost = report.failure.kind === 'error' && !!strayFailure(operation, isPassed);
    if (!isLost) return;
  }
  const cause = isPassed
    ? `its queryFn has passed on its signal, and the client has given fetch another one`
    : `its queryFn sent it after an await, without its signal`;
  const cure = isPassed
    ? `Link the client where it is made: linkClient(steady, createClient({ fetch: steady.rawFetch })); or give the ` +
      `call fetch: rawFetchFor(steady, signal).`
    : `Pass the signal on: queryFn: async ({ signal }) => steady.json(url, { signal }).`;
  warn(
    operations,
    isPassed ? 'unlinked client' : 'unlinked query',
    `A request of the query ${queryHash} is not known as its own: ${cause}. The query's policy ` +
      `(timeout, whenDown) does not hold for it${isPassed ? '' : ', and it cannot be cancelled'}. ${cure}`,
    'clients.md',
  );
}
