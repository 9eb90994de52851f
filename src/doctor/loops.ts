import type { Node } from './node.ts';
import { functionOf, importOf } from './scope.ts';

/** Code that may send something again. */
export interface Retry {
  readonly kind: 'interceptor' | 'library' | 'loop' | 'mutation' | 'query' | 'recursion';
  /** The loop, the call of the library, the call that repeats, or the object of options. */
  readonly at: Node;
  /** The code that runs in each attempt. */
  readonly attempt: readonly Node[];
  /** Whether it also repeats after what was thrown. */
  readonly catches: boolean;
  /** Options of React Query or of the library. */
  readonly options?: Node | undefined;
  /** The package of the library. */
  readonly library?: string | undefined;
}

const sleeping =
  /(?:^|\.)(?:\w*(?:sleep|delay|pause|snooze)\w*|wait(?:Ms|ForMs|For)?|timer|setTimeout)$/i;

/** The time that a call waits; undefined if it does not wait. */
export function waitOf(call: Node): Node | undefined {
  if (!call.calls(sleeping)) return undefined;
  const [first, second] = call.args;
  // That of node:timers/promises takes the time first.
  const isTimer = call.calls(/setTimeout$/) && importOf(call.callee) === undefined;
  if (!isTimer) return first;
  return first?.has(({ name }) => name === 'abort') === true ? undefined : second;
}

/** Whether a test is met by a good answer, or by one that is not to be retried. */
const isSuccess = (test: Node | undefined): boolean =>
  test?.has((node) => {
    const isNegated = node.parent?.operator === '!';
    if (node.type === 'MemberExpression' && node.name === 'ok') return !isNegated;
    if (node.calls(/\.(?:has|includes)$/))
      return isNegated && /status|code/i.test(node.args[0]?.words ?? '');
    if (node.type !== 'BinaryExpression' || !/status/i.test(node.words)) return false;
    if (node.children.some((side) => typeof side.value === 'string')) return false;
    const isGood = node.children.some((side) => /^2\d\d$/.test(String(side.value)));
    return /^<=?$|^!==?$/.test(node.operator) || (isGood && node.operator.startsWith('=='));
  }) === true;

/** Whether a statement leaves this loop. */
function exits(node: Node, loop: Node): boolean {
  if (node.is('ReturnStatement', 'ThrowStatement')) return true;
  if (node.type !== 'BreakStatement') return false;
  return [...node.ancestors()].find(({ type }) => /^(?:For|While|Do|Switch)/.test(type)) === loop;
}

const statementsOf = (body: Node | undefined): readonly Node[] =>
  body?.type === 'BlockStatement' ? body.list('body') : body === undefined ? [] : [body];

/** Whether these statements end in success: at once, or if the answer is good. */
const succeeds = (statements: readonly Node[], loop: Node): boolean =>
  statements.some((one) =>
    one.type === 'IfStatement'
      ? isSuccess(one.get('test')) &&
        one.get('consequent')?.has((node) => node.type !== 'ThrowStatement' && exits(node, loop))
      : one.type !== 'ThrowStatement' && exits(one, loop),
  );

const isContinue = ({ type }: Node): boolean => type === 'ContinueStatement';

/** A request that is sent again because a token had expired. */
const renewing = /\b401\b|refresh/i;

/** Whether a `try` of the loop succeeds, and its `catch` lets the loop go on. */
function isTriedAgain(attempt: Node, loop: Node): boolean {
  const handler = attempt.get('handler');
  const block = attempt.get('block');
  if (handler === undefined || block === undefined || renewing.test(handler.words)) return false;
  const last = statementsOf(handler.get('body')).at(-1);
  if (last !== undefined && exits(last, loop) && !handler.has(isContinue)) return false;
  const test = loop.wordsOf('test');
  const setsFlag = (node: Node): boolean =>
    node.type === 'AssignmentExpression' &&
    node.get('right')?.value === true &&
    test.includes(node.get('left')?.words || '?');
  return succeeds(statementsOf(block), loop) || block.has(setsFlag);
}

const counting = /attempt|retr|tries|\btry/i;
const moment = /\bDate\b|deadline|\bnow\b/i;

/** Whether it goes over items, or waits for something until a moment. */
function isOtherLoop(loop: Node): boolean {
  if (loop.type === 'ForOfStatement')
    return !/delay|attempt|retr|backoff/i.test(loop.wordsOf('left'));
  const test = loop.wordsOf('test');
  if (loop.type === 'ForInStatement' || moment.test(test)) return true;
  return /\b(?:length|size|next|done|cursor|hasMore)\b/.test(test) && !counting.test(test);
}

/** Whether it goes round again unless the answer is good. */
function isAskedAgain(body: Node, loop: Node): boolean {
  const statements = statementsOf(body);
  const last = statements.at(-1);
  const counts = counting.test(`${loop.wordsOf('test')} ${loop.wordsOf('init')}`);
  const isTimed = (node: Node): boolean =>
    node.type === 'IfStatement' && moment.test(node.wordsOf('test'));
  if (last === undefined || !(counts || body.has((node) => waitOf(node) !== undefined)))
    return false;
  if (body.has(isTimed)) return false;
  if (last.type === 'ReturnStatement' || exits(last, loop))
    return body.has(isContinue) && /status|\bok\b/.test(body.words);
  return succeeds(statements, loop);
}

export function retryLoopOf(loop: Node): Retry | undefined {
  const body = loop.get('body');
  if (!/^(?:For|While|DoWhile)/.test(loop.type) || body === undefined || isOtherLoop(loop))
    return undefined;
  const own = [...body.within(false)];
  if (!own.some(({ type }) => type === 'AwaitExpression')) return undefined;
  const catches = own.some((node) => isTriedAgain(node, loop));
  return catches || isAskedAgain(body, loop)
    ? { kind: 'loop', at: loop, attempt: [loop], catches }
    : undefined;
}

/** The kind of failure that a call comes after: something thrown, or an answer that is not good. */
function failureBefore(call: Node, fn: Node): 'catch' | 'status' | undefined {
  for (const node of call.ancestors()) {
    if (node === fn) return undefined;
    if (node.type === 'CatchClause' || (node.isFunction && node.parent?.calls(/\.catch$/)))
      return 'catch';
    const test = node.type === 'IfStatement' ? node.wordsOf('test') : '';
    if (/\b401\b/.test(test)) return undefined;
    if (/\bok\b|\bstatus\b.*\b[1-5]\d\d\b/.test(test)) return 'status';
  }
  return undefined;
}

const isStep = (node: Node): boolean =>
  node.type === 'UpdateExpression' ||
  (/^[+-]$/.test(node.operator) && node.get('right')?.value === 1);

/** A function that calls itself after a failure, a step further, or after a wait. */
export function recursionOf(call: Node): Retry | undefined {
  // `setTimeout(connect, 5000)` calls it, too.
  const isTimer = call.calls(/^setTimeout$/) && call.args[0]?.type === 'Identifier';
  const fn = call.calls(/^\w+$/) ? functionOf(isTimer ? call.args[0] : call.callee) : undefined;
  if (fn === undefined || !call.isIn(fn)) return undefined;
  const after = failureBefore(call, fn);
  const isBounded = call.args.some(isStep) || fn.has((node) => waitOf(node) !== undefined);
  return after !== undefined && isBounded
    ? { kind: 'recursion', at: call, attempt: [fn], catches: after === 'catch' }
    : undefined;
}

/** An interceptor of axios that sends the request again, and not because a token has expired. */
export function interceptorOf(call: Node): Retry | undefined {
  if (!call.calls(/interceptors\.response\.use$/)) return undefined;
  const handler = functionOf(call.args[1]);
  const client = call.callee.path.split('.interceptors')[0] ?? '';
  const again = [client, `${client}.request`, 'axios'];
  const isAgain = (node: Node): boolean => node.isCall && again.includes(node.callee.path);
  return handler?.has(isAgain) === true && !renewing.test(handler.words)
    ? { kind: 'interceptor', at: handler, attempt: [handler], catches: true }
    : undefined;
}
