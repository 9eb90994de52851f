import { type Retry, waitOf } from '../loops.ts';
import type { Node } from '../node.ts';
import { requestOf } from '../requests.ts';
import { isOff, mayHaveTimeout } from '../retries.ts';
import { bindingOf, functionOf, importOf, ownerOf, reach, resolve, returnsOf } from '../scope.ts';
import type { Rule, Source } from '../source.ts';

const chance = /random|jitter|retry[-_]?after/i;
const arithmetic =
  /^(?:Math\.(?:min|max|pow|round|floor|ceil|abs|trunc|exp|log2|sqrt)|Number|parseInt)$/;

/** Whether a function gives chance to a parameter of itself. */
function isGivenChance(parameter: Node): boolean {
  const { owner } = ownerOf(parameter);
  const index = owner?.list('params').indexOf(parameter) ?? -1;
  const given = (node: Node): string =>
    node.isCall && functionOf(node.callee) === owner ? (node.args[index]?.words ?? '') : '';
  return owner?.has((node) => chance.test(given(node))) === true;
}

function isFixedName(node: Node, depth: number): boolean {
  const binding = bindingOf(node);
  if (chance.test(node.name)) return false;
  if (binding === undefined || binding.kind === 'import') return /^[A-Z][A-Z\d_]*$/.test(node.name);
  if (binding.kind === 'parameter') return !isGivenChance(binding.node);
  const scope = [...binding.node.ancestors()].find((one) => one.is('BlockStatement', 'Program'));
  const isSet = (one: Node): boolean =>
    one.type === 'AssignmentExpression' && one.get('left')?.path === node.name;
  const set = [...(scope?.within() ?? [])].filter(isSet).map((one) => one.get('right'));
  return [binding.init, ...set].every((value) => value === undefined || isFixed(value, depth));
}

/** Whether it is a field that was set, of its class or of options, and not a part of what a call returned. */
function isField(node: Node): boolean {
  const object = node.get('object');
  if (object?.type === 'MemberExpression') return isField(object);
  const binding = bindingOf(object);
  const isResult = binding?.init?.is('CallExpression', 'AwaitExpression') === true;
  const isKnown = binding !== undefined && binding.kind !== 'import' && !isResult;
  return object?.type === 'ThisExpression' || isKnown;
}

/** The operands that all must be fixed. */
const operands: Readonly<Record<string, readonly string[]>> = {
  BinaryExpression: ['left', 'right'],
  LogicalExpression: ['right'],
  UnaryExpression: ['argument'],
  UpdateExpression: ['argument'],
};

/** Whether a delay is the same for every client: arithmetic alone, without chance, in one of its branches. */
function isFixed(node: Node | undefined, limit = 12): boolean {
  if (node === undefined || limit === 0) return false;
  const depth = limit - 1;
  const isFixedIn = (field: string): boolean => isFixed(node.get(field), depth);
  if (node.type === 'Literal') return typeof node.value === 'number';
  if (node.type === 'Identifier') return isFixedName(node, depth);
  if (node.type === 'MemberExpression') return !chance.test(node.words) && isField(node);
  if (node.type === 'ConditionalExpression')
    return isFixedIn('consequent') || isFixedIn('alternate');
  if (node.calls(arithmetic)) return node.args.every((one) => isFixed(one, depth));
  if (node.isCall) return isFixedResult(functionOf(node.callee), depth);
  return operands[node.type]?.every(isFixedIn) === true;
}

const isFixedResult = (fn: Node | undefined, depth = 12): boolean =>
  fn !== undefined &&
  !chance.test(fn.words) &&
  [...returnsOf(fn)].some((value) => isFixed(value, depth));

function isFixedDelay(delay: Node | undefined): boolean {
  const value = resolve(delay);
  if (value?.isFunction === true) return isFixedResult(value);
  return value?.value !== 0 && !chance.test(delay?.words ?? '') && isFixed(delay);
}

/** Whether a call waits before the next attempt, and not for something else. */
function isBetween(call: Node, { kind, attempt }: Retry): boolean {
  const around = [...call.ancestors()];
  if (call.calls(/setTimeout$/) && importOf(call.callee) === undefined) {
    const isPromised = around.some((node) => node.callee.path === 'Promise');
    const isAgain = (node: Node): boolean =>
      attempt.includes(functionOf(node.isCall ? node.callee : node) ?? node);
    if (!isPromised && call.args[0]?.has(isAgain) !== true) return false;
  }
  const inLoop = around.slice(
    0,
    around.findIndex((node) => attempt.includes(node)),
  );
  const tried = inLoop.findIndex((node, index) => inLoop[index + 1]?.get('block') === node);
  if (kind !== 'loop' || tried === -1) return true;
  // In what is tried, only a wait after an answer that is not good.
  return inLoop
    .slice(0, tried)
    .some(
      (node) =>
        /status|\bok\b/i.test(node.type === 'IfStatement' ? node.wordsOf('test') : '') ||
        node.list('body').some(({ type }) => type === 'ContinueStatement'),
    );
}

/** Whether nothing is awaited between two attempts that send. */
function isHot({ kind, at, attempt }: Retry): boolean {
  const isSent = (node: Node | undefined): boolean =>
    node !== undefined && requestOf(node) !== undefined;
  if (kind !== 'loop' || ![...reach(attempt)].some(isSent)) return false;
  const isTried = (node: Node): boolean =>
    [node, ...node.ancestors()].some(
      (one) => one.parent?.get('block') === one && one.parent.isIn(at),
    );
  return !at.has(
    (node) => node.type === 'AwaitExpression' && !isTried(node) && !isSent(node.get('argument')),
  );
}

function* fixedWaits(retry: Retry): Generator<Node> {
  const within = retry.attempt.flatMap((root) => [...root.within()]);
  const waits = within.filter((node) => waitOf(node) !== undefined && isBetween(node, retry));
  if (waits.length === 0 && isHot(retry)) yield retry.at;
  for (const call of waits)
    if (isFixedDelay(waitOf(call)) && !chance.test(functionOf(call.callee)?.words ?? ''))
      yield call;
}

/** Whether a library is left at delays without chance, by default or by its options. */
function isWithoutJitter({ library, options, at }: Retry): boolean {
  if (options === undefined ? at.args.length > 1 : options.isOpen) return false;
  const randomize = options?.option('randomize');
  const jitter = options?.option('jitter');
  if (library === 'exponential-backoff') return jitter === undefined || jitter.value === 'none';
  return randomize === undefined
    ? library?.startsWith('p') === true
    : randomize.value === false && library !== 'cockatiel';
}

/** Delays that axios-retry is given, or none. */
function* delaysOfAxiosRetry({ axiosRetries }: Source) {
  for (const { call, options } of axiosRetries) {
    const delay = options?.option('retryDelay');
    if (delay === undefined && (call.args.length === 1 || options?.isOpen === false)) yield call;
    if (isFixedDelay(delay) || /linearDelay/.test(delay?.words ?? ''))
      yield options?.property('retryDelay');
  }
}

/** The delay that a call gives to fetch-retry, or waits in SWR's `onErrorRetry`. */
function delayOfClient(call: Node): Node | undefined {
  if (call.isCall && importOf(call.callee)?.source === 'fetch-retry') {
    const options = resolve(call.args[1]);
    return isFixedDelay(options?.option('retryDelay'))
      ? options?.property('retryDelay')
      : undefined;
  }
  const isSwr = (one: Node): boolean =>
    one.is('Property', 'ObjectMethod') && one.name === 'onErrorRetry';
  return isFixedDelay(waitOf(call)) && [...call.ancestors()].some(isSwr) ? call : undefined;
}

export const noJitter: Rule = {
  name: 'no-jitter',
  why: 'All clients that failed together come back together, at the same moments.',
  remedy: 'Draw the delay at random: `Math.random() * Math.min(30_000, 1000 * 2 ** attempt)`.',
  *find(source) {
    for (const { object } of source.queries)
      if (isFixedDelay(object.option('retryDelay'))) yield object.property('retryDelay');
    for (const retry of source.retries) {
      if (retry.kind === 'library' && isWithoutJitter(retry)) yield retry.at;
      if (/^[ilr]/.test(retry.kind) && retry.kind !== 'library') yield* fixedWaits(retry);
    }
    yield* delaysOfAxiosRetry(source);
    yield* source.nodes.map(delayOfClient);
  },
};

/** Whether a signal may end a request in time: React Query's own ends with the query, and never by itself. */
const mayEnd = (signal: Node | undefined, { kind, attempt }: Retry): boolean =>
  signal !== undefined &&
  !(kind === 'query' && attempt.some((fn) => fn === bindingOf(signal)?.node.parent));

/** Whether a request surely has no time limit of its own. */
function isUnlimited(call: Node, retry: Retry, { nodes }: Source): boolean {
  const { client, options } = requestOf(call) ?? {};
  if (client !== 'fetch' && client !== 'axios') return false;
  if (options?.isOpen === true || options?.property('timeout') !== undefined) return false;
  if ([...call.ancestors()].some((node) => node.calls(/race|timeout/i))) return false;
  if (mayEnd(options?.option('signal'), retry)) return false;
  return client === 'fetch' || !mayHaveTimeout(call.callee.get('object') ?? call.callee, nodes);
}

const isUnlimitedKy = (call: Node): boolean =>
  importOf(call.get('callee'))?.source === 'ky' &&
  call.args.some((one) => one.option('timeout')?.value === false);

export const noTimeLimit: Rule = {
  name: 'no-time-limit',
  why: 'A request that hangs never fails, so it is never retried, and its user waits without end.',
  remedy:
    'Limit each attempt: `signal: AbortSignal.timeout(10_000)`, or the timeout of the client.',
  *find(source) {
    for (const retry of source.retries) {
      const isQuery = retry.kind === 'query' || retry.kind === 'mutation';
      if (isQuery && isOff(retry.options?.option('retry')) !== false) continue;
      yield* [...reach(retry.attempt)].filter((node) => isUnlimited(node, retry, source));
    }
    for (const { call, client } of source.axiosRetries)
      if (!mayHaveTimeout(client, source.nodes)) yield call;
    yield* source.nodes.filter(isUnlimitedKy);
  },
};
