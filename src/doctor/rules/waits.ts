import type { Node } from '../node.ts';
import { type Request, requestOf } from '../requests.ts';
import { isOff, lacksTimeout, type Retry, waitOf } from '../retries.ts';
import { bindingOf, functionOf, importOf, ownerOf, reach, resolve, returnsOf } from '../scope.ts';
import type { Rule, Source } from '../source.ts';

const chance = /random|jitter|retry[-_]?after/i;
const arithmetic =
  /^(?:Math\.(?:min|max|pow|round|floor|ceil|abs|trunc|exp|log2|sqrt)|Number|parseInt)$/;

/** Whether a parameter is given chance by a call of the function of itself. */
function mayBeGivenChance(parameter: Node): boolean {
  const { owner } = ownerOf(parameter);
  const index = owner?.list('params').indexOf(parameter) ?? -1;
  return [...(owner?.within() ?? [])].some((call) => {
    const argument =
      call.type === 'CallExpression' && functionOf(call.callee) === owner
        ? call.list('arguments')[index]
        : undefined;
    return argument !== undefined && chance.test(argument.words);
  });
}

function isFixedName(node: Node, depth: number): boolean {
  const binding = bindingOf(node);
  if (chance.test(node.words)) return false;
  if (binding === undefined || binding.kind === 'import') return /^[A-Z][A-Z\d_]*$/.test(node.name);
  if (binding.kind === 'parameter') {
    const parameter = binding.node;
    return parameter.parent?.isFunction !== true || !mayBeGivenChance(parameter);
  }
  let scope: Node | undefined = binding.node;
  while (scope?.parent !== undefined && !scope.is('BlockStatement', 'Program'))
    scope = scope.parent;
  const values = [...(scope?.within() ?? [])].flatMap((one) =>
    one.type === 'AssignmentExpression' && one.get('left')?.path === node.name
      ? [one.get('right')]
      : [],
  );
  return [binding.init, ...values].every(
    (value) => value === undefined || isFixed(value, depth - 1),
  );
}

/** Whether it is a field that was set, of its class or of options, and not a part of what a call returned. */
function isField(node: Node): boolean {
  const object = node.get('object');
  if (object?.type === 'MemberExpression') return isField(object);
  const binding = object?.type === 'Identifier' ? bindingOf(object) : undefined;
  const isResult = binding?.init?.is('CallExpression', 'AwaitExpression') === true;
  return (
    object?.type === 'ThisExpression' ||
    (binding !== undefined && binding.kind !== 'import' && !isResult)
  );
}

/** Whether a delay is the same for every client: arithmetic alone, with no chance in it, in one of its branches. */
function isFixed(node: Node | undefined, depth = 6): boolean {
  if (node === undefined || depth === 0) return false;
  const every = (fields: readonly string[]): boolean =>
    fields.every((field) => isFixed(node.get(field), depth - 1));
  switch (node.type) {
    case 'Literal':
      return typeof node.value === 'number';
    case 'Identifier':
      return isFixedName(node, depth);
    case 'MemberExpression':
      return !chance.test(node.words) && isField(node);
    case 'BinaryExpression':
      return every(['left', 'right']);
    case 'UnaryExpression':
    case 'UpdateExpression':
      return every(['argument']);
    case 'ConditionalExpression':
      return (
        isFixed(node.get('consequent'), depth - 1) || isFixed(node.get('alternate'), depth - 1)
      );
    case 'LogicalExpression':
      return isFixed(node.get('right'), depth - 1);
    case 'CallExpression': {
      if (arithmetic.test(node.callee.path))
        return node.list('arguments').every((one) => isFixed(one, depth - 1));
      const fn = functionOf(node.callee);
      return fn !== undefined && isFixedResult(fn, depth - 1);
    }
    default:
      return false;
  }
}

function isFixedResult(fn: Node, depth = 6): boolean {
  const values = [...returnsOf(fn)];
  return (
    values.length > 0 && values.some((value) => isFixed(value, depth)) && !chance.test(fn.words)
  );
}

const isFixedDelay = (delay: Node | undefined): boolean => {
  const value = resolve(delay);
  if (delay?.isFunction === false && chance.test(delay.words)) return false;
  if (value?.type === 'Literal' && value.value === 0) return false;
  return value?.isFunction === true ? isFixedResult(value) : value !== undefined && isFixed(value);
};

/** Whether a call waits before the next attempt, and not for something else. */
function isBetween(call: Node, { kind, attempt }: Retry): boolean {
  const around = [...call.ancestors()];
  if (/setTimeout$/.test(call.callee.path) && importOf(call.callee) === undefined) {
    const isPromised = around.some(
      (node) => node.type === 'NewExpression' && node.callee.path === 'Promise',
    );
    const again = (node: Node): boolean =>
      attempt.includes(functionOf(node.type === 'CallExpression' ? node.callee : node) ?? node);
    if (!isPromised && call.list('arguments')[0]?.has(again) !== true) return false;
  }
  if (kind !== 'loop') return true;
  const end = around.findIndex((node) => attempt.includes(node));
  const inLoop = around.slice(0, end);
  const tried = inLoop.findIndex((node, index) => inLoop[index + 1]?.get('block') === node);
  if (tried === -1) return true;
  // In what is tried, only a wait after an answer that is not good.
  return inLoop
    .slice(0, tried)
    .some(
      (node) =>
        (node.type === 'IfStatement' && /status|\bok\b/i.test(node.get('test')?.words ?? '')) ||
        node.list('body').some(({ type }) => type === 'ContinueStatement'),
    );
}

/** The calls that wait before the next attempt. */
const waitsOf = (retry: Retry): readonly Node[] =>
  retry.attempt.flatMap((root) =>
    [...root.within()].filter((node) => waitOf(node) !== undefined && isBetween(node, retry)),
  );

/** Whether nothing is awaited between two attempts that send. */
function isHot({ kind, at, attempt }: Retry): boolean {
  if (kind !== 'loop' || ![...reach(attempt)].some((node) => requestOf(node) !== undefined))
    return false;
  const tried = [...at.within()].flatMap((node) =>
    node.type === 'TryStatement' ? [node.get('block')] : [],
  );
  return !at.has(
    (node) =>
      node.type === 'AwaitExpression' &&
      !tried.some((block) => block !== undefined && node.isIn(block)) &&
      requestOf(node.get('argument') ?? node) === undefined,
  );
}

function* fixedWaits(retry: Retry): Generator<Node> {
  const waits = waitsOf(retry);
  if (waits.length === 0 && isHot(retry)) yield retry.at;
  for (const call of waits) {
    const helper = functionOf(call.callee);
    if (helper !== undefined && chance.test(helper.words)) continue;
    if (isFixedDelay(waitOf(call))) yield call;
  }
}

function isWithoutJitter({ library, options, at }: Retry): boolean {
  const isSeen =
    options === undefined ? at.list('arguments').length < 2 : options.type === 'ObjectExpression';
  if (!isSeen || options?.list('properties').some(({ type }) => type === 'SpreadElement') === true)
    return false;
  const randomize = options?.option('randomize')?.value;
  if (library === 'p-retry')
    return options?.property('randomize') === undefined || randomize === false;
  if (library === 'async-retry') return randomize === false;
  return (
    library === 'exponential-backoff' &&
    (options?.property('jitter') === undefined || options.option('jitter')?.value === 'none')
  );
}

export const noJitter: Rule = {
  name: 'no-jitter',
  why: 'All clients that failed together come back together, at the same moments.',
  remedy: 'Draw the delay at random: Math.random() * Math.min(30_000, 1000 * 2 ** attempt).',
  *find({ nodes, retries, queries, axiosRetries }) {
    for (const { object } of queries)
      if (isFixedDelay(object.option('retryDelay'))) yield object.property('retryDelay');
    for (const retry of retries) {
      if (retry.kind === 'library') {
        if (isWithoutJitter(retry)) yield retry.at;
      } else if (retry.kind !== 'query' && retry.kind !== 'mutation') yield* fixedWaits(retry);
    }
    for (const { call, options } of axiosRetries) {
      const delay = options?.property('retryDelay');
      const isSeen =
        options?.type === 'ObjectExpression' &&
        !options.list('properties').some(({ type }) => type === 'SpreadElement');
      if (
        delay === undefined
          ? isSeen || call.list('arguments').length === 1
          : isFixedDelay(options?.option('retryDelay'))
      )
        yield delay ?? call;
      else if (/linearDelay/.test(delay?.words ?? '')) yield delay;
    }
    for (const node of nodes) {
      if (node.type === 'CallExpression' && importOf(node.callee)?.source === 'fetch-retry') {
        const options = resolve(node.list('arguments')[1]);
        if (isFixedDelay(options?.option('retryDelay'))) yield options?.property('retryDelay');
      }
      if (
        node.type === 'CallExpression' &&
        isFixedDelay(waitOf(node)) &&
        ownerNames(node).includes('onErrorRetry')
      )
        yield node;
    }
  },
};

const ownerNames = (node: Node): readonly string[] =>
  [...node.ancestors()].flatMap((one) => (one.is('Property', 'ObjectMethod') ? [one.name] : []));

/** Whether a request surely has no time limit of its own. */
function isUnlimited(
  { client, call, options, defaults }: Request,
  retry: Retry,
  source: Source,
): boolean {
  const own = options?.type === 'ObjectExpression' ? options : undefined;
  if (client !== 'fetch' && client !== 'axios') return false;
  if (
    options !== undefined &&
    (own === undefined || own.list('properties').some(({ type }) => type === 'SpreadElement'))
  )
    return false;
  const around = [...call.ancestors()].some(
    (node) => node.type === 'CallExpression' && /race|timeout/i.test(node.callee.path),
  );
  if (around || own?.property('timeout') !== undefined) return false;
  const signal = own?.option('signal');
  if (signal !== undefined) {
    // React Query's own signal ends with the query, and never by itself.
    const given = signal.type === 'Identifier' ? bindingOf(signal) : undefined;
    const isQuerys =
      retry.kind === 'query' &&
      given?.kind === 'parameter' &&
      retry.attempt.includes(given.node.parent ?? call);
    if (!isQuerys) return false;
  }
  if (client === 'fetch') return true;
  if (
    defaults !== undefined &&
    (defaults.type !== 'ObjectExpression' || defaults.property('timeout') !== undefined)
  )
    return false;
  const limited = `${call.callee.path.split('.')[0]}.defaults.timeout`;
  return !source.nodes.some(
    (node) => node.type === 'AssignmentExpression' && node.get('left')?.path === limited,
  );
}

export const noTimeLimit: Rule = {
  name: 'no-time-limit',
  why: 'A request that hangs never fails, so it is never retried, and its user waits without end.',
  remedy:
    'Give each attempt a limit: signal: AbortSignal.timeout(10_000), or the timeout of the client.',
  *find(source) {
    for (const retry of source.retries) {
      const isQuery = retry.kind === 'query' || retry.kind === 'mutation';
      if (isQuery && isOff(retry.options?.option('retry')) !== false) continue;
      for (const node of reach(retry.attempt)) {
        const request = requestOf(node);
        if (request !== undefined && isUnlimited(request, retry, source)) yield node;
      }
    }
    for (const one of source.axiosRetries) if (lacksTimeout(one, source.nodes)) yield one.call;
    for (const node of source.nodes) {
      if (node.type !== 'Property' || node.name !== 'timeout' || node.get('value')?.value !== false)
        continue;
      const call = node.parent?.parent;
      if (importOf(call?.callee)?.source === 'ky') yield call;
    }
  },
};
