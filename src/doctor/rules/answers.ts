import type { Retry } from '../loops.ts';
import type { Node } from '../node.ts';
import { requestOf } from '../requests.ts';
import type { QueryOptions } from '../retries.ts';
import { functionOf, reach, resolve } from '../scope.ts';
import type { Rule, Source } from '../source.ts';

const deciding =
  /retr|transient|permanent|fatal|temporary|should|abort|bail|recoverable|is\w*Error|is(?:Client|Server|Network)/i;
const constant = /^[A-Z][A-Z\d_]+$/;
const aborts = /^(?:AbortError|TimeoutError|ECONNABORTED)$/;

/** Whether a side of a comparison names some failures, and not just any. */
const isNamed = ({ value, name, type }: Node): boolean =>
  typeof value === 'number'
    ? value > 400
    : typeof value === 'string'
      ? !aborts.test(value)
      : type === 'Identifier' && constant.test(name);

/** Whether code tells apart which failures are worth another attempt. */
function isDeciding(node: Node): boolean {
  const isAbout = /status|code/i.test(node.words);
  if (node.type === 'BinaryExpression')
    return node.operator === 'instanceof' || (isAbout && node.children.some(isNamed));
  if (node.type === 'NewExpression') return /AbortError|StopRetry|NonRetr/.test(node.callee.path);
  if (node.type === 'SwitchStatement') return /status|code/i.test(node.wordsOf('discriminant'));
  if (node.calls(/\.(?:has|includes|some|test)$/)) return isAbout;
  const tests = /^(?:If|Conditional|Logical|Unary)/;
  const isTest = [...node.ancestors()].slice(0, 4).some(({ type }) => tests.test(type));
  return node.calls(/^bail$/) || (isTest && node.isCall && deciding.test(node.callee.path));
}

/** Whether it fails at a 4xx: axios does by itself, fetch where the answer is looked at. */
function failsAt4xx(nodes: readonly Node[]): boolean {
  const sent = new Set(nodes.map((node) => requestOf(node)?.client));
  const isLook = (node: Node): boolean =>
    (node.type === 'MemberExpression' && node.name === 'ok') ||
    (node.type === 'BinaryExpression' && /status\w* .*\b(?:2\d\d|300|399|400)\b/i.test(node.words));
  return sent.has('axios') || (sent.has('fetch') && nodes.some(isLook));
}

/** Whether a retry of this file's own, or of a library, repeats whatever has failed. */
function isBlind({ kind, library, options, attempt }: Retry): boolean {
  if (!/^(?:loop|recursion|library)$/.test(kind) || library === 'cockatiel') return false;
  if (library !== undefined && options?.isObject === false) return false;
  if (options?.property('shouldRetry') ?? options?.property('retry')) return false;
  const hook = options?.option('onFailedAttempt');
  const stops = (node: Node): boolean => isDeciding(node) || node.type === 'ThrowStatement';
  if (hook !== undefined && functionOf(hook)?.has(stops) !== false) return false;
  const nodes = [...reach(attempt)];
  return failsAt4xx(nodes) && !nodes.some(isDeciding);
}

/** Whether a value of React Query's `retry` repeats whatever has failed. */
function repeatsAll(retry: Node | undefined): boolean {
  const value = resolve(retry);
  if (value === undefined) return false;
  if (value.type === 'ConditionalExpression')
    return repeatsAll(value.get('consequent')) || repeatsAll(value.get('alternate'));
  if (!value.isFunction)
    return value.value === true || Number(value.value) > 0 || value.name === 'Infinity';
  const error = value.list('params')[1];
  const names = error === undefined ? ['arguments'] : error.words.split(' ');
  return (
    value.get('body')?.has(({ type, name }) => type === 'Identifier' && names.includes(name)) !==
    true
  );
}

/** Whether its function is seen not to throw at a 4xx: it only sends with fetch, and throws nothing. */
function neverThrows({ fn }: QueryOptions): boolean {
  const nodes = fn === undefined ? [] : [...reach([fn])];
  const isPlain = (node: Node): boolean =>
    node.type !== 'ThrowStatement' && !node.calls(/\.reject$/) && !node.calls(/^(?!fetch$)\w+$/);
  return nodes.some((node) => requestOf(node)?.client === 'fetch') && nodes.every(isPlain);
}

/** Whether axios-retry is told to repeat any answer, or those from 400 up. */
function repeatsRefusals(condition: Node | undefined): boolean {
  if (condition?.isFunction !== true) return false;
  const numbers = [...condition.within()]
    .map(({ value }) => Number(value))
    .filter((one) => one > 100);
  const isAny = condition.get('body')?.value === true;
  return isAny || (numbers.length > 0 && numbers.every((one) => one <= 400));
}

const lists = /^(?:statusCodes|retryStatusCodes|retryOn|statusCodesToRetry)$/;
/** Statuses of 400 to 499, without those that another attempt may change. */
const refusal = /\b4(?!0[89]|13|2[1359])\d\d\b/;

function listsRefusals(node: Node): boolean {
  const isList = node.type === 'Property' && lists.test(node.name);
  const list = isList ? resolve(node.get('value')) : undefined;
  return list?.type === 'ArrayExpression' && refusal.test(list.words);
}

export const retries4xx: Rule = {
  name: 'retries-4xx',
  why: 'A 4xx says that the request is wrong: sent again it gets the same answer, later.',
  remedy: 'Retry by status (no answer, 5xx, 408, 425 and 429); `retryPolicy()` does so.',
  *find({ nodes, retries, queries, axiosRetries }) {
    for (const query of queries)
      if (repeatsAll(query.object.option('retry')) && !neverThrows(query))
        yield query.object.property('retry');
    yield* retries.filter(isBlind).map(({ at }) => at);
    for (const { options } of axiosRetries)
      if (repeatsRefusals(resolve(options?.option('retryCondition'))))
        yield options?.property('retryCondition');
    yield* nodes.filter(listsRefusals);
  },
};

const isQuery = ({ kind }: Retry): boolean => kind === 'query' || kind === 'mutation';

/** Whether a throw is caught by the loop that it is in. */
const isCaught = (statement: Node, { kind, at }: Retry): boolean =>
  kind === 'loop' &&
  [...statement.ancestors()].some((one) => one.isIn(at) && one.parent?.get('block') === one);

/** Whether a 429 ends the retries: the branch of its test gives up. */
function isEnd(branch: Node | undefined, isNegated: boolean, retry: Retry): boolean {
  const last = branch?.type === 'BlockStatement' ? branch.list('body').at(-1) : branch;
  if (last?.type === 'ThrowStatement')
    return (
      !isNegated && !isCaught(last, retry) && (retry.kind !== 'library' || /Abort/.test(last.words))
    );
  if (last?.type !== 'ReturnStatement') return false;
  if (last.get('argument')?.value === false) return !isNegated;
  return !isNegated && retry.kind === 'loop';
}

/** Whether what tests for a 429 gives up. */
function isStop(number: Node, retry: Retry): boolean {
  let isNegated = false;
  for (const node of number.ancestors()) {
    if (node.operator.startsWith('!')) isNegated = !isNegated;
    if (node.type === 'IfStatement') return isEnd(node.get('consequent'), isNegated, retry);
    if (node.isFunction)
      return isQuery(retry) && isNegated && node.get('body')?.type !== 'BlockStatement';
  }
  return false;
}

/** The 429 that code names, also by a constant of this file, and where it does. */
function* limitsIn(
  roots: readonly Node[],
): Generator<{ readonly number: Node; readonly use: Node }> {
  for (const use of reach(roots)) {
    const made = use.type === 'Identifier' ? resolve(use) : use;
    const isList = made?.is('ArrayExpression', 'Literal') === true || made?.callee.path === 'Set';
    if (made === undefined || !isList || (made === use && use.value !== 429)) continue;
    const number = [...made.within()].find(({ value }) => value === 429);
    if (number !== undefined) yield { number, use };
  }
}

interface Decision {
  readonly roots: readonly Node[];
  readonly retry?: Retry;
}

/** The code that decides whether to send again. */
function decisionsIn({ retries, queries, axiosRetries }: Source): readonly Decision[] {
  const rootsOf = (node: Node | undefined): readonly Node[] =>
    [functionOf(node)].filter((fn) => fn !== undefined);
  const own = retries
    .filter((retry) => !isQuery(retry) && retry.library !== 'cockatiel')
    .map((retry) => ({ roots: [...retry.attempt, retry.options ?? retry.at], retry }));
  const ofQueries = queries.map(({ kind, object }) => ({
    roots: rootsOf(object.option('retry')),
    retry: { kind, at: object, attempt: [], catches: true },
  }));
  const ofAxios = axiosRetries
    .filter(({ options }) => {
      const delay = functionOf(options?.option('retryDelay'));
      return delay !== undefined && !/exponentialDelay/.test(delay.words);
    })
    .map(({ options }) => ({ roots: rootsOf(options?.option('retryCondition')) }));
  return [...own, ...ofQueries, ...ofAxios];
}

export const ignoresRetryAfter: Rule = {
  name: 'ignores-retry-after',
  why: 'A 429 says in Retry-After when to come back; who comes earlier is refused again.',
  remedy: 'Wait at least as long as Retry-After says, with jitter on top.',
  *find(source) {
    if (/retry[-_]?after/i.test(source.nodes[0]?.words ?? '')) return;
    for (const { roots, retry } of decisionsIn(source))
      for (const { number, use } of limitsIn(roots))
        if (retry === undefined || !isStop(use, retry)) yield number;
  },
};
