import type { Retry } from '../loops.ts';
import type { Node } from '../node.ts';
import { isUnkeyedWrite, requestOf } from '../requests.ts';
import { isRetrying } from '../retries.ts';
import { bindingOf, functionOf, importOf, reach, resolve } from '../scope.ts';
import type { Rule, Source } from '../source.ts';

export const nestedRetry: Rule = {
  name: 'nested-retry',
  why: 'Two retry loops around one request multiply: four attempts in each are sixteen requests.',
  remedy: 'Let one of them retry: `retry: 0` for the client, or `retry: false` for React Query.',
  *find({ retries, axiosRetries }) {
    const loops = new Set(retries.map(({ kind, at }) => (kind === 'loop' ? at : undefined)));
    for (const { kind, at, attempt } of retries) {
      if (kind === 'interceptor') continue;
      for (const node of attempt.flatMap((root) => [...root.within()])) {
        // A recursion is no loop in itself.
        const isSelf = node.isCall && attempt.includes(functionOf(node.callee) ?? node);
        const isInner = loops.has(node) || (!isSelf && isRetrying(node, retries, axiosRetries));
        if (node !== at && isInner) yield node;
      }
    }
  },
};

const timeout = /AbortError|TimeoutError|ECONNABORTED|ETIMEDOUT|time[d-]?\s?-?out|\b504\b|\b408\b/i;

/** Whether a test is met by a time-out. */
const isTimeoutTest = (test: Node | undefined): boolean =>
  test?.has(
    (node) =>
      timeout.test(node.words) &&
      (node.operator.startsWith('==') || (node.isCall && node.parent?.operator !== '!')),
  ) === true;

/** Whether code names statuses, and only those of requests that the server has surely not done. */
function namesRefusals(roots: readonly (Node | undefined)[]): boolean {
  const numbers = roots.flatMap((root) =>
    [...(root?.within() ?? [])].map(({ value }) => Number(value)),
  );
  const statuses = numbers.filter((number) => number >= 400 && number < 600);
  return statuses.length > 0 && statuses.every((status) => status === 429 || status === 425);
}

const isAfterRefusal = ({ kind, catches, attempt, options }: Retry): boolean =>
  namesRefusals(kind === 'mutation' ? [resolve(options?.option('retry'))] : catches ? [] : attempt);

function unkeyedWrites(roots: readonly (Node | undefined)[]): readonly Node[] {
  const requests = [...reach(roots.filter((root) => root !== undefined))].map(requestOf);
  return requests.flatMap((one) => (one !== undefined && isUnkeyedWrite(one) ? [one.call] : []));
}

const safe = /method|idempot|\bsafe|\bget\b/i;

/** Where axios-retry is told to repeat every method: after time-outs, or else. */
function* openConditions({ axiosRetries }: Source, afterTimeout: boolean) {
  for (const { options } of axiosRetries) {
    const condition = resolve(options?.option('retryCondition'));
    if (condition === undefined || safe.test(condition.words) || namesRefusals([condition]))
      continue;
    const isSeen = condition.isFunction || /isNetworkError$|isRetryableError$/.test(condition.path);
    if (isSeen && isTimeoutTest(condition) === afterTimeout)
      yield options?.property('retryCondition');
  }
}

/** Where a mutation says that it is retried after a time-out. */
const timeoutRetryOf = ({ options }: Retry): Node | undefined =>
  isTimeoutTest(resolve(options?.option('retry'))) ? options?.property('retry') : undefined;

/** Where a client is told to repeat a POST. */
function repeatedPost(node: Node): Node | undefined {
  const { client, options } = requestOf(node) ?? {};
  if (client === 'ofetch')
    return Number(resolve(options?.option('retry'))?.value) > 0
      ? unkeyedWrites([node])[0]
      : undefined;
  const methods = node.name === 'retry' ? node.get('value')?.property('methods') : undefined;
  const source = importOf(node.parent?.parent?.callee)?.source ?? '';
  const isListed = methods?.has(({ value }) => /^(?:post|patch)$/i.test(String(value))) === true;
  return isListed && /^(?:ky|got)$/.test(source) ? methods : undefined;
}

export const retryWithoutKey: Rule = {
  name: 'retry-without-key',
  why: 'A POST or PATCH that failed may have been done, and is done twice if it is sent again.',
  remedy: 'Send an idempotency key that the server honours, or do not retry it.',
  *find(source) {
    for (const retry of source.retries) {
      const isOther = retry.kind === 'mutation' && timeoutRetryOf(retry) !== undefined;
      if (retry.kind !== 'query' && !isOther && !isAfterRefusal(retry))
        yield* unkeyedWrites(retry.attempt);
    }
    yield* openConditions(source, false);
    yield* source.nodes.map(repeatedPost);
  },
};

/** Whether a call sends a write again: itself, by a function of this file, or by a mutation. */
function isResend(call: Node, { queries }: Source): boolean {
  if (!call.isCall) return false;
  const request = requestOf(call);
  if (request !== undefined) return isUnkeyedWrite(request);
  if (!call.calls(/\.mutate(?:Async)?$/))
    return unkeyedWrites([functionOf(call.callee)]).length > 0;
  const made = bindingOf(call.callee.get('object'))?.init;
  const fn = queries.find(({ object }) => made !== undefined && object.parent === made)?.fn;
  const isShown = fn?.has((node) => requestOf(node) !== undefined) === true;
  return !isShown || unkeyedWrites([fn]).length > 0;
}

const answered = /answer|done|finish|receiv|settl|complet|respon|confirm|success|ack/i;

/** The code that runs after a time-out. */
function branchAfterTimeout(node: Node): readonly (Node | undefined)[] {
  if (node.is('IfStatement', 'ConditionalExpression'))
    return isTimeoutTest(node.get('test')) ? [node.get('consequent')] : [];
  if (node.type === 'SwitchCase')
    return timeout.test(node.wordsOf('test')) ? node.list('consequent') : [];
  const callback = node.calls(/^setTimeout$/) ? functionOf(node.args[0]) : undefined;
  const guard = [...(callback?.within() ?? [])].find(({ type }) => type === 'IfStatement');
  const isWaiting = guard?.get('test')?.operator === '!' && answered.test(guard.wordsOf('test'));
  return isWaiting ? [guard.get('consequent')] : [];
}

export const resubmitAfterTimeout: Rule = {
  name: 'resubmit-after-timeout',
  why: 'A request that timed out may have been done: the server goes on when the client stops waiting.',
  remedy: 'Send it again with the same idempotency key, or ask the server whether it was done.',
  *find(source) {
    for (const root of source.nodes.flatMap(branchAfterTimeout))
      for (const node of root?.within() ?? []) if (isResend(node, source)) yield node;
    for (const retry of source.retries)
      if (retry.kind === 'mutation' && unkeyedWrites(retry.attempt).length > 0)
        yield timeoutRetryOf(retry);
    yield* openConditions(source, true);
  },
};
