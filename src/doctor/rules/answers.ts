import type { Node } from '../node.ts';
import { requestOf } from '../requests.ts';
import { isOff, type QueryOptions, type Retry } from '../retries.ts';
import { functionOf, reach, resolve } from '../scope.ts';
import type { Rule } from '../source.ts';

/** Statuses of 400 to 499 that another attempt may change. */
const passing: ReadonlySet<number> = new Set([408, 409, 413, 421, 423, 425, 429]);
const isRefusal = (value: unknown): boolean =>
  typeof value === 'number' && value >= 400 && value < 500 && !passing.has(value);

const decides =
  /retr|transient|permanent|fatal|temporary|should|abort|bail|recoverable|is\w*Error|is(?:Client|Server|Network)/i;

/** Whether code tells apart which failures are worth another attempt. */
function isDeciding(node: Node): boolean {
  const isOperator = node.type === 'BinaryExpression';
  if (isOperator && node.operator === 'instanceof') return true;
  if (isOperator && /status|code/i.test(node.words))
    return node.children.some(({ value, type, words }) =>
      typeof value === 'number'
        ? value > 400
        : typeof value === 'string'
          ? !/^(?:AbortError|TimeoutError|ECONNABORTED)$/.test(value)
          : type === 'Identifier' && /^[A-Z][A-Z\d_]+$/.test(words),
    );
  if (node.is('NewExpression', 'ThrowStatement'))
    return /AbortError|StopRetry|NonRetr|Unrecoverable/.test(node.callee.path);
  if (node.type === 'SwitchStatement')
    return /status|code/i.test(node.get('discriminant')?.words ?? '');
  if (node.type !== 'CallExpression') return false;
  if (/\.(?:has|includes|some|test)$/.test(node.callee.path))
    return /status|code/i.test(node.words);
  if (node.callee.path === 'bail') return true;
  const isTest = [...node.ancestors()]
    .slice(0, 4)
    .some(({ type }) => /^(?:If|Conditional|Logical|Unary)/.test(type));
  return isTest && decides.test(node.callee.name || node.callee.path);
}

/** Whether what it runs throws, or asks to be called again, after a 4xx. */
function failsAt4xx(nodes: readonly Node[]): boolean {
  return nodes.some((node) => {
    const request = requestOf(node);
    if (request?.client === 'axios') return true;
    if (request?.client !== 'fetch') return false;
    return nodes.some(
      (one) =>
        (one.type === 'MemberExpression' && one.name === 'ok') ||
        (one.type === 'BinaryExpression' &&
          /status/i.test(one.words) &&
          one.children.some(({ value }) => /^(?:2\d\d|300|399|400)$/.test(String(value)))),
    );
  });
}

function isBlind(retry: Retry): boolean {
  if (retry.kind !== 'loop' && retry.kind !== 'recursion' && retry.kind !== 'library') return false;
  if (retry.library === 'cockatiel') return false;
  const nodes = [...reach(retry.attempt)];
  const options = ['shouldRetry', 'onFailedAttempt', 'retry'].some((name) => {
    const own = functionOf(retry.options?.option(name));
    return (
      own?.has((node) => isDeciding(node) || node.type === 'ThrowStatement') === true ||
      (own === undefined && retry.options?.property(name) !== undefined) ||
      (own !== undefined && name !== 'onFailedAttempt')
    );
  });
  const isUnseen =
    retry.library !== undefined &&
    retry.options !== undefined &&
    retry.options.type !== 'ObjectExpression';
  return !options && !isUnseen && failsAt4xx(nodes) && !nodes.some(isDeciding);
}

/** Whether a value of `retry` repeats whatever has failed. */
function repeatsAll(retry: Node | undefined): boolean {
  const value = resolve(retry);
  if (value === undefined) return false;
  if (value.type === 'ConditionalExpression')
    return repeatsAll(value.get('consequent')) || repeatsAll(value.get('alternate'));
  if (value.type === 'Literal')
    return value.value === true || (typeof value.value === 'number' && value.value > 0);
  if (value.type === 'Identifier') return value.name === 'Infinity';
  if (!value.isFunction) return false;
  const error = value.list('params')[1];
  if (error === undefined)
    return !value.has(({ name, type }) => type === 'Identifier' && name === 'arguments');
  const names = [...error.within()]
    .filter(({ type }) => type === 'Identifier')
    .map(({ name }) => name);
  return !value.get('body')?.has(({ type, name }) => type === 'Identifier' && names.includes(name));
}

/** Whether its function is seen not to throw at a 4xx: it sends with fetch, and throws nothing. */
function neverThrows({ fn }: QueryOptions): boolean {
  if (fn === undefined) return false;
  const nodes = [...reach([fn])];
  const isFetch = nodes.some((node) => requestOf(node)?.client === 'fetch');
  const calls = nodes.filter(({ type }) => type === 'CallExpression');
  const isPlain = calls.every(
    (call) => requestOf(call)?.client === 'fetch' || call.callee.type === 'MemberExpression',
  );
  return (
    isFetch &&
    isPlain &&
    !nodes.some(
      (node) =>
        node.type === 'ThrowStatement' ||
        /\.reject$/.test(node.type === 'CallExpression' ? node.callee.path : ''),
    )
  );
}

const statusLists = /^(?:statusCodes|retryStatusCodes|retryOn|statusCodesToRetry)$/;

export const retries4xx: Rule = {
  name: 'retries-4xx',
  why: 'A 4xx says that the request is wrong: sent again it gets the same answer, later, and costs the server more.',
  remedy: 'Retry by status (5xx, 408, 425, 429 and no answer); `retryPolicy()` does so.',
  *find({ nodes, retries, queries, axiosRetries }) {
    for (const query of queries) {
      const property = query.object.property('retry');
      const retry = query.object.option('retry');
      if (property !== undefined && repeatsAll(retry) && !neverThrows(query)) yield property;
    }
    for (const retry of retries) if (isBlind(retry)) yield retry.at;
    for (const { options } of axiosRetries) {
      const condition = resolve(options?.option('retryCondition'));
      if (condition?.isFunction !== true) continue;
      const numbers = [...condition.within()].flatMap(({ value }) =>
        typeof value === 'number' && value > 100 ? [value] : [],
      );
      const isAll = condition.get('body')?.value === true;
      if (isAll || (numbers.length > 0 && numbers.every((one) => one <= 400)))
        yield options?.property('retryCondition');
    }
    for (const node of nodes) {
      if (node.type !== 'Property' || !statusLists.test(node.name)) continue;
      const list = resolve(node.get('value'));
      if (list?.list('elements').some(({ value }) => isRefusal(value)) === true) yield node;
    }
  },
};

/** Whether a 429 is what ends the retries: what follows its test gives up. */
function isStop(number: Node, retry: Retry): boolean {
  let isNegated = false;
  for (const node of number.ancestors()) {
    if (node.type === 'BinaryExpression' && /^!/.test(node.operator)) isNegated = true;
    if (node.type === 'UnaryExpression' && node.operator === '!') isNegated = !isNegated;
    if (node.type === 'IfStatement' && number.isIn(node.get('test') ?? node)) {
      const then = node.get('consequent');
      const last = then?.type === 'BlockStatement' ? then.list('body').at(-1) : then;
      if (last?.type === 'ReturnStatement' && last.get('argument')?.value === false)
        return !isNegated;
      if (last?.type === 'ReturnStatement' && isQuery(retry)) return false;
      if (last?.type === 'ThrowStatement')
        return (
          !isNegated &&
          (retry.kind !== 'library' || /Abort/.test(last.words)) &&
          !isCaught(last, retry)
        );
      return (
        last?.type === 'ReturnStatement' &&
        !isNegated &&
        retry.kind !== 'recursion' &&
        retry.kind !== 'interceptor'
      );
    }
    if (node.isFunction)
      return isQuery(retry) && isNegated && node.get('body')?.type !== 'BlockStatement';
  }
  return false;
}

const isQuery = ({ kind }: Retry): boolean => kind === 'query' || kind === 'mutation';

/** Whether a throw is caught by the loop that it is in. */
const isCaught = (statement: Node, retry: Retry): boolean =>
  retry.kind === 'loop' &&
  [...statement.ancestors()].some(
    (node) =>
      node.type === 'TryStatement' &&
      node.isIn(retry.at) &&
      statement.isIn(node.get('block') ?? node),
  );

/** The 429 that code names, also by a constant of this file. */
function* limitsIn(roots: readonly Node[]): Generator<{ number: Node; use: Node }> {
  for (const use of reach(roots)) {
    if (use.type === 'Identifier') {
      const constant = resolve(use);
      const number =
        constant !== use && constant?.isFunction !== true && constant?.type !== 'CallExpression'
          ? constant
          : undefined;
      const found = [...(number ?? listOf(use) ?? use).within()].find(({ value }) => value === 429);
      if (found !== undefined && found !== use) yield { number: found, use };
    } else if (use.value === 429) yield { number: use, use };
  }
}

/** `new Set([…])` behind a name. */
const listOf = (name: Node): Node | undefined => {
  const made = resolve(name);
  return made?.type === 'NewExpression' && made.callee.path === 'Set' ? made : undefined;
};

export const ignoresRetryAfter: Rule = {
  name: 'ignores-retry-after',
  why: 'A 429 says in Retry-After when to come back; coming earlier is refused again, and may prolong the limit.',
  remedy: 'Wait at least as long as Retry-After says, with jitter on top.',
  *find({ nodes, retries, queries, axiosRetries }) {
    if (nodes.some(({ type, words }) => type === 'Program' && /retry[-_]?after/i.test(words)))
      return;
    for (const retry of retries) {
      if (isQuery(retry) || retry.library === 'cockatiel') continue;
      for (const { number, use } of limitsIn([
        ...retry.attempt,
        ...(retry.options ? [retry.options] : []),
      ]))
        if (!isStop(use, retry) && use.parent?.type !== 'NewExpression') yield number;
    }
    for (const { kind, object } of queries) {
      const decide = functionOf(object.option('retry'));
      if (decide === undefined) continue;
      const retry: Retry = { kind, at: object, attempt: [], catches: true };
      for (const { number, use } of limitsIn([decide])) if (!isStop(use, retry)) yield number;
    }
    for (const { options } of axiosRetries) {
      const condition = resolve(options?.option('retryCondition'));
      const delay = resolve(options?.option('retryDelay'));
      const isOwn = delay?.isFunction === true && !/exponentialDelay/.test(delay.words);
      if (condition?.isFunction !== true || !isOwn) continue;
      for (const { number } of limitsIn([condition])) yield number;
    }
  },
};
