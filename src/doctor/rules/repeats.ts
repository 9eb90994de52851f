import type { Node } from '../node.ts';
import { isUnkeyedWrite, requestOf } from '../requests.ts';
import { axiosRetriesIn, isRetrying, type Retry } from '../retries.ts';
import { bindingOf, functionOf, importOf, reach, resolve } from '../scope.ts';
import type { Rule, Source } from '../source.ts';

export const nestedRetry: Rule = {
  name: 'nested-retry',
  why: 'Two retry loops around one request multiply: four attempts in each of two are sixteen requests.',
  remedy:
    'Let one of them retry, and turn the other off (`retry: 0` of the client, or `retry: false` of React Query).',
  *find({ retries, axiosRetries }) {
    for (const outer of retries) {
      if (outer.kind === 'interceptor') continue;
      for (const root of outer.attempt)
        for (const node of root.within()) {
          if (node === outer.at) continue;
          const isLoop = retries.some(({ kind, at }) => kind === 'loop' && at === node);
          if (isLoop || (!isOwnCall(node, outer) && isRetrying(node, retries, axiosRetries)))
            yield node;
        }
    }
  },
};

/** A recursion is no loop in itself. */
const isOwnCall = (node: Node, { kind, attempt }: Retry): boolean =>
  kind === 'recursion' &&
  node.type === 'CallExpression' &&
  attempt.includes(functionOf(node.callee) ?? node);

const timeout =
  /AbortError|TimeoutError|ECONNABORTED|ETIMEDOUT|time[d-]?\s?-?out|\b50[4]\b|\b408\b/i;

/** Whether a test is met by a time-out. */
const isTimeoutTest = (test: Node | undefined): boolean =>
  test?.has((node) => {
    if (node.type === 'BinaryExpression')
      return /^===?$/.test(node.operator) && timeout.test(node.words);
    const isNegated = node.parent?.type === 'UnaryExpression';
    return node.type === 'CallExpression' && !isNegated && timeout.test(node.words);
  }) === true;

const numbersIn = (nodes: Iterable<Node>): readonly number[] =>
  [...nodes].flatMap(({ value }) =>
    typeof value === 'number' && value >= 400 && value < 600 ? [value] : [],
  );

/** Whether it repeats only what the server surely has not done. */
function isOnlyAfterRefusal({ kind, catches, attempt, options }: Retry): boolean {
  const decides =
    kind === 'mutation' ? [resolve(options?.option('retry'))] : catches ? [] : attempt;
  const statuses = numbersIn(
    decides.flatMap((node) => (node === undefined ? [] : [...node.within()])),
  );
  return statuses.length > 0 && statuses.every((status) => status === 429 || status === 425);
}

function* unkeyedWrites(roots: readonly Node[]): Generator<Node> {
  for (const node of reach(roots)) {
    const request = requestOf(node);
    if (request !== undefined && isUnkeyedWrite(request)) yield node;
  }
}

const safe = /method|idempot|\bsafe|\bget\b/i;

/** The condition of axios-retry, if it lets every method through. */
function conditionOf(options: Node | undefined): { property: Node; condition: Node } | undefined {
  const property = options?.property('retryCondition');
  const condition = resolve(options?.option('retryCondition'));
  if (property === undefined || condition === undefined || safe.test(condition.words))
    return undefined;
  const statuses = numbersIn(condition.within());
  const isRefusal = statuses.length > 0 && statuses.every((status) => status === 429);
  const isSeen = condition.isFunction || /isNetworkError$|isRetryableError$/.test(condition.path);
  return isSeen && !isRefusal ? { property, condition } : undefined;
}

const listsPost = (methods: Node | undefined): boolean =>
  resolve(methods)
    ?.list('elements')
    .some(({ value }) => /^(?:post|patch)$/i.test(String(value))) === true;

export const retryWithoutKey: Rule = {
  name: 'retry-without-key',
  why: 'A POST or PATCH that failed may have been done, and is done twice if it is sent again.',
  remedy: 'Send an idempotency key that the server honours, or do not retry it.',
  *find({ nodes, retries, axiosRetries }) {
    for (const retry of retries) {
      if (retry.kind === 'query' || isOnlyAfterRefusal(retry)) continue;
      if (retry.kind === 'mutation' && timeoutRetryOf(retry) !== undefined) continue;
      yield* unkeyedWrites(retry.attempt);
    }
    for (const { options } of axiosRetries) {
      const found = conditionOf(options);
      if (found !== undefined && !isTimeoutTest(found.condition)) yield found.property;
    }
    for (const node of nodes) {
      const retry =
        node.type === 'Property' && node.name === 'retry' ? node.get('value') : undefined;
      const source = importOf(node.parent?.parent?.callee)?.source ?? '';
      if (/^(?:ky|got)$/.test(source) && listsPost(retry?.option('methods')))
        yield retry?.property('methods');
      const request = requestOf(node);
      const own =
        request?.client === 'ofetch' ? resolve(request.options?.option('retry'))?.value : undefined;
      if (request !== undefined && Number(own) > 0 && isUnkeyedWrite(request)) yield node;
    }
  },
};

/** Where a mutation says that it is retried after a time-out. */
function timeoutRetryOf({ options }: Retry): Node | undefined {
  const retry = options?.option('retry');
  return isTimeoutTest(resolve(retry)) ? options?.property('retry') : undefined;
}

/** The calls that send a write again: itself, by a function of this file, or by a mutation. */
function* resends(root: Node, { queries }: Source): Generator<Node> {
  for (const call of root.within()) {
    if (call.type !== 'CallExpression') continue;
    const request = requestOf(call);
    if (request !== undefined) {
      if (isUnkeyedWrite(request)) yield call;
      continue;
    }
    const fn = functionOf(call.callee);
    if (fn !== undefined && [...unkeyedWrites([fn])].length > 0) yield call;
    if (!/\.mutate(?:Async)?$/.test(call.callee.path)) continue;
    const made = bindingOf(call.callee.get('object'))?.init;
    const mutation = queries.find(({ object }) => object.parent === made);
    const isSeen = mutation?.fn?.has((node) => requestOf(node) !== undefined) === true;
    if (!isSeen || [...unkeyedWrites(mutation?.fn ? [mutation.fn] : [])].length > 0) yield call;
  }
}

const answered = /answer|done|finish|receiv|settl|complet|respon|confirm|success|ack/i;

/** The branches that are taken after a time-out. */
function branchAfterTimeout(node: Node): Node | readonly Node[] | undefined {
  if (node.is('IfStatement', 'ConditionalExpression'))
    return isTimeoutTest(node.get('test')) ? node.get('consequent') : undefined;
  if (node.type === 'SwitchCase')
    return timeout.test(node.get('test')?.words ?? '') ? node.list('consequent') : undefined;
  if (node.type !== 'CallExpression' || node.callee.name !== 'setTimeout') return undefined;
  const callback = functionOf(node.list('arguments')[0]);
  const guard = callback && [...callback.within()].find(({ type }) => type === 'IfStatement');
  const test = guard?.get('test');
  return test?.operator === '!' && answered.test(test.words) ? guard?.get('consequent') : undefined;
}

export const resubmitAfterTimeout: Rule = {
  name: 'resubmit-after-timeout',
  why: 'A request that timed out may have been done: the server goes on when the client has stopped waiting.',
  remedy: 'Send it again with the same idempotency key, or ask the server whether it was done.',
  *find(source) {
    for (const node of source.nodes) {
      const branch = branchAfterTimeout(node);
      for (const root of branch === undefined ? [] : [branch].flat()) yield* resends(root, source);
    }
    for (const retry of source.retries)
      if (retry.kind === 'mutation' && [...unkeyedWrites(retry.attempt)].length > 0)
        yield timeoutRetryOf(retry);
    for (const { options } of axiosRetriesIn(source.nodes)) {
      const found = conditionOf(options);
      if (found !== undefined && isTimeoutTest(found.condition)) yield found.property;
    }
  },
};
