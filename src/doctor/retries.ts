import type { Node } from './node.ts';
import { clientOf, requestOf } from './requests.ts';
import { bindingOf, functionOf, importOf, reach, resolve } from './scope.ts';

/** Code that may send something again. */
export interface Retry {
  readonly kind: 'interceptor' | 'library' | 'loop' | 'mutation' | 'query' | 'recursion';
  /** The loop, the call of the library, the call that repeats, or the object of options. */
  readonly at: Node;
  /** What runs in each attempt. */
  readonly attempt: readonly Node[];
  /** Options of React Query or of the library. */
  readonly options?: Node | undefined;
  /** The package of the library. */
  readonly library?: string | undefined;
  /** Whether it also repeats after what was thrown. */
  readonly catches: boolean;
}

/** Packages with a function that retries the function it is given, by the name of that function. */
const libraries: Readonly<Record<string, string>> = {
  'async-retry': 'default',
  'exponential-backoff': 'backOff',
  'p-retry': 'default',
};

export function libraryOf(call: Node): string | undefined {
  if (call.type !== 'CallExpression') return undefined;
  const from = importOf(call.callee);
  if (from !== undefined && libraries[from.source] !== undefined) return from.source;
  // `policy.execute(…)`, where `policy = retry(…)` of cockatiel.
  if (call.callee.type !== 'MemberExpression' || call.callee.name !== 'execute') return undefined;
  const policy = resolve(call.callee.get('object'));
  const isRetry = policy?.type === 'CallExpression' && /retry/i.test(policy.callee.path);
  return isRetry && importOf(policy.callee)?.source === 'cockatiel' ? 'cockatiel' : undefined;
}

const counters = /attempt|retr|tries|\btry/i;
const waiting =
  /(?:^|\.)(?:\w*(?:sleep|delay|pause|snooze)\w*|wait(?:Ms|ForMs|For)?|timer|setTimeout)$/i;

/** The time that a call waits; undefined if it does not wait. */
export function waitOf(call: Node): Node | undefined {
  if (call.type !== 'CallExpression' || !waiting.test(call.callee.path)) return undefined;
  const [first, second] = call.list('arguments');
  if (!/setTimeout$/.test(call.callee.path) || first?.isFunction === false) {
    const isOwn = importOf(call.callee) === undefined && /setTimeout$/.test(call.callee.path);
    return isOwn ? second : first;
  }
  return first?.has((node) => node.name === 'abort') === true ? undefined : second;
}

/** Whether a test is met by a good answer, or by one that is not to be retried. */
function isSuccessTest(test: Node): boolean {
  for (const node of test.within()) {
    const isNegated = node.parent?.type === 'UnaryExpression' && node.parent.operator === '!';
    if (node.type === 'MemberExpression' && node.name === 'ok') return !isNegated;
    if (node.type === 'CallExpression' && /\.(?:has|includes)$/.test(node.callee.path))
      if (/status|code/i.test(node.list('arguments')[0]?.words ?? '')) return isNegated;
    if (node.type !== 'BinaryExpression' || !/status/i.test(node.words)) continue;
    if (node.children.some((side) => typeof side.value === 'string')) continue;
    const isGood = node.children.some((side) => /^2\d\d$/.test(String(side.value)));
    if (/^<=?$|^!==?$/.test(node.operator) || (/^===?$/.test(node.operator) && isGood)) return true;
  }
  return false;
}

const exits = (node: Node, loop: Node): boolean => {
  if (node.is('ReturnStatement', 'ThrowStatement')) return true;
  if (node.type !== 'BreakStatement') return false;
  for (const around of node.ancestors())
    if (/^(?:For|While|DoWhile|Switch)/.test(around.type)) return around === loop;
  return false;
};

const statementsOf = (body: Node | undefined): readonly Node[] =>
  body?.type === 'BlockStatement' ? body.list('body') : body === undefined ? [] : [body];

/** Whether these statements end in success: at once, or if the answer is good. */
function succeeds(statements: readonly Node[], loop: Node): boolean {
  return statements.some((statement) => {
    if (statement.is('ReturnStatement', 'BreakStatement')) return exits(statement, loop);
    const test = statement.type === 'IfStatement' ? statement.get('test') : undefined;
    if (test === undefined || !isSuccessTest(test)) return false;
    const then = statement.get('consequent');
    return then?.has((node) => !node.is('ThrowStatement') && exits(node, loop)) === true;
  });
}

/** Whether the catch lets the loop go on. */
function goesOn(handler: Node, loop: Node): boolean {
  const last = statementsOf(handler.get('body')).at(-1);
  return (
    last === undefined ||
    !exits(last, loop) ||
    handler.has(({ type }) => type === 'ContinueStatement')
  );
}

const moment = /\bDate\b|deadline|\bnow\b/i;

function isNoRetry(loop: Node): boolean {
  if (loop.type === 'ForInStatement') return true;
  if (loop.type === 'ForOfStatement')
    return !/delay|attempt|retr|backoff/i.test(loop.get('left')?.words ?? '');
  const test = loop.get('test')?.words ?? '';
  // A wait for something until a moment is a poll.
  if (moment.test(test)) return true;
  return /\b(?:length|size|next|done|cursor|hasMore)\b/.test(test) && !counters.test(test);
}

function retryLoopOf(loop: Node): Retry | undefined {
  const body = loop.get('body');
  if (!/^(?:For|While|DoWhile)/.test(loop.type) || body === undefined || isNoRetry(loop))
    return undefined;
  const own = [...body.within(false)];
  if (!own.some(({ type }) => type === 'AwaitExpression')) return undefined;
  const test = loop.get('test');
  for (const node of own) {
    const handler = node.type === 'TryStatement' ? node.get('handler') : undefined;
    if (handler === undefined || !goesOn(handler, loop)) continue;
    const block = node.get('block');
    const isFlagged = own.some(
      (one) =>
        one.type === 'AssignmentExpression' &&
        test?.words.includes(one.get('left')?.words || '?') &&
        one.isIn(block ?? node) &&
        one.get('right')?.value === true,
    );
    if (succeeds(statementsOf(block), loop) || isFlagged)
      return { kind: 'loop', at: loop, attempt: [loop], catches: true };
  }
  const statements = statementsOf(body);
  const counts = counters.test(`${test?.words ?? ''} ${loop.get('init')?.words ?? ''}`);
  const waits = [...body.within()].some((node) => waitOf(node) !== undefined);
  if (!counts && !waits) return undefined;
  const isTimed = own.some(
    (node) => node.type === 'IfStatement' && moment.test(node.get('test')?.words ?? ''),
  );
  if (isTimed) return undefined;
  const repeats = own.some((node) => node.type === 'ContinueStatement');
  const last = statements.at(-1);
  const endsGood = repeats && last !== undefined && exits(last, loop);
  const isGood = statements.some((one) => one.type === 'IfStatement') && succeeds(statements, loop);
  return (isGood && last?.type !== 'ReturnStatement') ||
    (endsGood && /status|\bok\b/.test(body.words))
    ? { kind: 'loop', at: loop, attempt: [loop], catches: false }
    : undefined;
}

/** Whether a call of itself comes after a failure. */
function isAfterFailure(call: Node, fn: Node): 'catch' | 'status' | undefined {
  for (const node of call.ancestors()) {
    if (node === fn) return undefined;
    if (node.type === 'CatchClause') return 'catch';
    const { parent } = node;
    const inCall = node.isFunction && parent?.type === 'CallExpression' ? parent.callee : undefined;
    if (inCall?.type === 'MemberExpression' && inCall.name === 'catch') return 'catch';
    const test = node.type === 'IfStatement' ? node.get('test') : undefined;
    if (test !== undefined && /\b401\b/.test(test.words)) return undefined;
    if (test !== undefined && /\bstatus\b|\bok\b/.test(test.words) && /\d|\bok\b/.test(test.words))
      return 'status';
  }
  return undefined;
}

const isStep = (argument: Node): boolean =>
  (argument.type === 'BinaryExpression' &&
    /^[+-]$/.test(argument.operator) &&
    argument.get('right')?.value === 1) ||
  argument.type === 'UpdateExpression';

/** A function that calls itself after a failure, a step further, or after a wait. */
function recursionOf(call: Node): Retry | undefined {
  if (call.type !== 'CallExpression' || call.callee.type === 'MemberExpression') return undefined;
  const fn = functionOf(call.callee);
  if (fn === undefined || !call.isIn(fn)) return undefined;
  const after = isAfterFailure(call, fn);
  const isBounded =
    call.list('arguments').some(isStep) ||
    [...fn.within()].some((node) => waitOf(node) !== undefined);
  return after !== undefined && isBounded
    ? { kind: 'recursion', at: call, attempt: [fn], catches: after === 'catch' }
    : undefined;
}

/** An interceptor of axios that sends the request again, and not because a token has expired. */
function interceptorOf(call: Node): Retry | undefined {
  if (call.type !== 'CallExpression' || !/interceptors\.response\.use$/.test(call.callee.path))
    return undefined;
  const handler = functionOf(call.list('arguments')[1]);
  if (handler === undefined || /\b401\b|refresh/i.test(handler.words)) return undefined;
  const client = call.callee.path.split('.interceptors')[0];
  const isAgain = ({ type, callee }: Node): boolean =>
    type === 'CallExpression' &&
    (callee.path === client || callee.path === `${client}.request` || callee.path === 'axios');
  return handler.has(isAgain)
    ? { kind: 'interceptor', at: handler, attempt: [handler], catches: true }
    : undefined;
}

/** An object of React Query's options, and whether it is for queries or mutations. */
export interface QueryOptions {
  readonly kind: 'mutation' | 'query';
  readonly object: Node;
  readonly fn: Node | undefined;
  /** `retry`, or the default that this file sets. */
  readonly retry: Node | undefined;
}

function kindOf(object: Node): QueryOptions['kind'] | undefined {
  if (object.property('queryFn') !== undefined) return 'query';
  if (object.property('mutationFn') !== undefined) return 'mutation';
  const { parent } = object;
  if (parent?.type === 'CallExpression') {
    const [, kind] =
      /^(?:use\w*|\w*(?=(?:[qQ]uery|mutation)Options$))(Query|Queries|Mutation|[qQ]ueryOptions|mutationOptions)$/.exec(
        parent.callee.name,
      ) ?? [];
    return kind === undefined ? undefined : /^m/i.test(kind) ? 'mutation' : 'query';
  }
  if (parent?.type !== 'Property' || !/^(?:queries|mutations)$/.test(parent.name)) return undefined;
  const around = parent.parent?.parent;
  const isDefault =
    around?.name === 'defaultOptions' || /setDefaultOptions$/.test(around?.callee.path ?? '');
  return isDefault ? (parent.name === 'queries' ? 'query' : 'mutation') : undefined;
}

export function queryOptionsIn(nodes: readonly Node[]): readonly QueryOptions[] {
  const found = nodes.flatMap((object) => {
    const kind = object.type === 'ObjectExpression' ? kindOf(object) : undefined;
    return kind === undefined ? [] : [{ kind, object }];
  });
  return found.map(({ kind, object }) => {
    const isCall = object.parent?.type === 'CallExpression';
    // `useQuery(key, fn, options)` of old.
    const positional = isCall
      ? object.parent.list('arguments').find((one) => functionOf(one))
      : undefined;
    const own = object.option(kind === 'query' ? 'queryFn' : 'mutationFn') ?? positional;
    const usual = found.find((other) => other.kind === kind && other.object.parent?.is('Property'));
    const retry = object.option('retry') ?? usual?.object.option('retry');
    return { kind, object, fn: own?.isFunction === true ? own : functionOf(own), retry };
  });
}

/** Whether a value of `retry` is none; undefined where this file does not show it. */
export function isOff(retry: Node | undefined): boolean | undefined {
  const value = resolve(retry);
  if (value?.type === 'Literal') return value.value === false || value.value === 0;
  return value === undefined || (value.type === 'Identifier' && value.name !== 'Infinity')
    ? undefined
    : false;
}

function ofReactQuery({ kind, object, fn, retry }: QueryOptions): Retry | undefined {
  const off = isOff(retry);
  const isOnce = /\.(?:fetch|prefetch|ensure)\w*Quer\w+$/.test(object.parent?.callee.path ?? '');
  const isOn = kind === 'query' ? off !== true && !(isOnce && retry === undefined) : off === false;
  return isOn && fn !== undefined
    ? { kind, at: object, attempt: [fn], options: object, catches: true }
    : undefined;
}

function ofLibrary(call: Node): Retry | undefined {
  const library = libraryOf(call);
  if (library === undefined) return undefined;
  const [first, second] = call.list('arguments');
  const fn = functionOf(first);
  const attempt = fn === undefined ? [] : [fn];
  return { kind: 'library', at: call, attempt, options: resolve(second), library, catches: true };
}

export function retriesIn(nodes: readonly Node[]): readonly Retry[] {
  return [
    ...queryOptionsIn(nodes).map(ofReactQuery),
    ...nodes.flatMap((node) => [
      retryLoopOf(node),
      recursionOf(node),
      interceptorOf(node),
      ofLibrary(node),
    ]),
  ].filter((one) => one !== undefined);
}

/** The calls of `axiosRetry(client, options)`. */
export interface AxiosRetry {
  readonly call: Node;
  readonly client: Node | undefined;
  readonly options: Node | undefined;
}

export const axiosRetriesIn = (nodes: readonly Node[]): readonly AxiosRetry[] =>
  nodes
    .filter(
      (node) =>
        node.type === 'CallExpression' &&
        (importOf(node.callee)?.source === 'axios-retry' || node.callee.path === 'axiosRetry') &&
        node.callee.type === 'Identifier' &&
        node.list('arguments').length > 0,
    )
    .map((call) => {
      const [client, options] = call.list('arguments');
      return { call, client, options: resolve(options) };
    });

const named = /(?:with|and)Retr(?:y|ies)$|^retry(?:Fetch|Request|Async|Promise|Fn|Operation)/i;

const hasRetryOf = (options: Node | undefined): boolean | undefined => {
  const retry = options?.type === 'ObjectExpression' ? resolve(options.option('retry')) : undefined;
  if (retry?.type === 'ObjectExpression') return isOff(retry.option('limit')) !== true;
  return retry === undefined ? undefined : isOff(retry) !== true;
};

/** Whether a call has retries of its own inside. */
export function isRetrying(
  call: Node,
  loops: readonly Retry[],
  configured: readonly AxiosRetry[],
): boolean {
  if (call.type !== 'CallExpression') return false;
  if (libraryOf(call) !== undefined) return true;
  const made = resolve(call.callee);
  if (made?.type === 'CallExpression' && importOf(made.callee)?.source === 'fetch-retry')
    return true;
  const request = requestOf(call);
  if (request?.client === 'ky')
    return hasRetryOf(request.options) ?? hasRetryOf(request.defaults) ?? true;
  if (request?.client === 'ofetch') return hasRetryOf(request.options) === true;
  if (request?.client === 'axios') {
    const name = call.callee.path.split('.')[0];
    return configured.some(({ client }) => client?.path === name);
  }
  const fn = functionOf(call.callee);
  if (fn === undefined) return importOf(call.callee) !== undefined && named.test(call.callee.path);
  return loops.some(
    ({ kind, at, attempt }) =>
      (kind === 'recursion' && attempt.includes(fn)) ||
      ((kind === 'loop' || kind === 'library') && at.isIn(fn)),
  );
}

/** Whether a client that `axiosRetry` is given is made without a time limit. */
export function lacksTimeout({ client }: AxiosRetry, nodes: readonly Node[]): boolean {
  const found = clientOf(client);
  if (found?.client !== 'axios') return false;
  const { defaults } = found;
  const isUnseen = defaults !== undefined && defaults.type !== 'ObjectExpression';
  if (isUnseen || defaults?.property('timeout') !== undefined) return false;
  const limited = `${client?.path}.defaults.timeout`;
  return !nodes.some(
    (node) => node.type === 'AssignmentExpression' && node.get('left')?.path === limited,
  );
}
