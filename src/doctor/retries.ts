import { interceptorOf, recursionOf, type Retry, retryLoopOf } from './loops.ts';
import type { Node } from './node.ts';
import { clientOf, requestOf } from './requests.ts';
import { functionOf, importOf, resolve } from './scope.ts';

/** An object of React Query's options. */
export interface QueryOptions {
  readonly kind: 'mutation' | 'query';
  readonly object: Node;
  readonly fn: Node | undefined;
  /** `retry`, or the default that this file sets. */
  readonly retry: Node | undefined;
}

const takesOptions =
  /^use\w*(?:Query|Queries)$|[qQ]ueryOptions$|setQueryDefaults$|(^use\w*Mutation$|mutationOptions$|setMutationDefaults$)/;

/** The kind of options in `{ defaultOptions: { queries, mutations } }`. */
function kindOfDefaults({ parent }: Node): QueryOptions['kind'] | undefined {
  const around = parent?.parent?.parent;
  const isDefault = around?.name === 'defaultOptions' || around?.calls(/setDefaultOptions$/);
  const kinds = { queries: 'query', mutations: 'mutation' } as const;
  return isDefault ? kinds[parent?.name as keyof typeof kinds] : undefined;
}

function kindOf(object: Node): QueryOptions['kind'] | undefined {
  if (!object.isObject) return undefined;
  if (object.property('queryFn') !== undefined) return 'query';
  if (object.property('mutationFn') !== undefined) return 'mutation';
  const taken = takesOptions.exec(object.parent?.isCall ? object.parent.callee.name : '');
  if (taken === null) return kindOfDefaults(object);
  return taken[1] === undefined ? 'query' : 'mutation';
}

export function queryOptionsIn(nodes: readonly Node[]): readonly QueryOptions[] {
  const found = nodes.flatMap((object) => {
    const kind = kindOf(object);
    return kind === undefined ? [] : [{ kind, object }];
  });
  return found.map(({ kind, object }) => {
    // `useQuery(key, fn, options)` of old.
    const positional = object.parent?.args.find((one) => functionOf(one));
    const own = object.option(kind === 'query' ? 'queryFn' : 'mutationFn') ?? positional;
    const usual = found.find((one) => one.kind === kind && one.object.parent?.type === 'Property');
    const retry = object.option('retry') ?? usual?.object.option('retry');
    return { kind, object, fn: functionOf(own), retry };
  });
}

/** Whether a value of `retry` is none; undefined where this file does not show it. */
export function isOff(retry: Node | undefined): boolean | undefined {
  const value = resolve(retry);
  if (value?.type === 'Literal') return value.value === false || value.value === 0;
  const isShown = value !== undefined && (value.type !== 'Identifier' || value.name === 'Infinity');
  return isShown ? false : undefined;
}

/** Whether these options turn off the retries of every query. */
export const turnsOffQueries = ({ kind, object, retry }: QueryOptions): boolean =>
  kind === 'query' && kindOfDefaults(object) !== undefined && isOff(retry) === true;

function ofReactQuery(
  { kind, object, fn, retry }: QueryOptions,
  isOffByDefault: boolean,
): Retry | undefined {
  const off = isOff(retry);
  const isOnce = object.parent?.calls(/\.(?:fetch|prefetch|ensure)\w*Quer\w+$/) === true;
  const isDefault = retry !== undefined || !(isOnce || isOffByDefault);
  const isOn = kind === 'query' ? off !== true && isDefault : off === false;
  return isOn && fn !== undefined
    ? { kind, at: object, attempt: [fn], options: object, catches: true }
    : undefined;
}

/** The package whose function a call gives a function to retry. */
function libraryOf(call: Node): string | undefined {
  const source = call.isCall ? importOf(call.callee)?.source : undefined;
  if (/^(?:async-retry|exponential-backoff|p-retry|promise-retry)$/.test(source ?? ''))
    return source;
  // `policy.execute(…)`, where `policy = retry(…)` of cockatiel.
  const policy = call.calls(/\.execute$/) ? resolve(call.callee.get('object')) : undefined;
  const isPolicy = policy?.calls(/retry/i) && importOf(policy.callee)?.source === 'cockatiel';
  return isPolicy ? 'cockatiel' : undefined;
}

function ofLibrary(call: Node): Retry | undefined {
  const library = libraryOf(call);
  if (library === undefined) return undefined;
  // promise-retry takes them in either order.
  const [fn, given] = functionOf(call.args[1]) ? call.args.toReversed() : call.args;
  const attempt = [functionOf(fn)].filter((one) => one !== undefined);
  return { kind: 'library', at: call, attempt, options: resolve(given), library, catches: true };
}

export const retriesIn = (nodes: readonly Node[], isOffByDefault: boolean): readonly Retry[] =>
  [
    ...queryOptionsIn(nodes).map((one) => ofReactQuery(one, isOffByDefault)),
    ...nodes.flatMap((node) =>
      [retryLoopOf, recursionOf, interceptorOf, ofLibrary].map((of) => of(node)),
    ),
  ].filter((one) => one !== undefined);

/** A call of `axiosRetry(client, options)`. */
export interface AxiosRetry {
  readonly call: Node;
  readonly client: Node | undefined;
  readonly options: Node | undefined;
}

export const axiosRetriesIn = (nodes: readonly Node[]): readonly AxiosRetry[] =>
  nodes
    .filter((node) => node.calls(/^\w+$/) && node.args.length > 0)
    .filter(
      ({ callee }) => importOf(callee)?.source === 'axios-retry' || callee.path === 'axiosRetry',
    )
    .map((call) => ({ call, client: call.args[0], options: resolve(call.args[1]) }));

const named = /(?:with|and)Retr(?:y|ies)$|^retry(?:Fetch|Request|Async|Promise|Fn|Operation)/i;

function hasRetry(options: Node | undefined): boolean | undefined {
  const retry = resolve(options?.option('retry'));
  if (retry === undefined) return undefined;
  return isOff(retry.isObject ? retry.option('limit') : retry) !== true;
}

/** Whether the client that sends a request retries it; undefined for other calls. */
function isRetryingClient(call: Node, configured: readonly AxiosRetry[]): boolean | undefined {
  const { client, options, defaults } = requestOf(call) ?? {};
  if (client === 'ky') return hasRetry(options) ?? hasRetry(defaults) ?? true;
  if (client === 'ofetch') return hasRetry(options) === true;
  const path = call.callee.path.split('.')[0];
  return client === 'axios' ? configured.some((one) => one.client?.path === path) : undefined;
}

/** Whether a call has retries of its own inside. */
export function isRetrying(
  call: Node,
  loops: readonly Retry[],
  configured: readonly AxiosRetry[],
): boolean {
  if (!call.isCall) return false;
  const made = resolve(call.callee);
  if (made?.isCall && importOf(made.callee)?.source === 'fetch-retry') return true;
  const byClient = isRetryingClient(call, configured);
  if (byClient !== undefined || libraryOf(call) !== undefined) return byClient ?? true;
  const fn = functionOf(call.callee);
  if (fn === undefined) return importOf(call.callee) !== undefined && named.test(call.callee.path);
  return loops.some(({ kind, at, attempt }) =>
    kind === 'recursion' ? attempt.includes(fn) : ['loop', 'library'].includes(kind) && at.isIn(fn),
  );
}

/** Whether a client of axios has a time limit, or may have one that this file does not show. */
export function mayHaveTimeout(client: Node | undefined, nodes: readonly Node[]): boolean {
  const found = clientOf(client);
  if (found?.client !== 'axios') return true;
  if (found.defaults !== undefined && (found.defaults.isOpen || found.defaults.property('timeout')))
    return true;
  const path = `${client?.path}.defaults.timeout`;
  return nodes.some(
    (node) => node.type === 'AssignmentExpression' && node.get('left')?.path === path,
  );
}
