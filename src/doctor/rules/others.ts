import type { Node } from '../node.ts';
import { requestOf } from '../requests.ts';
import { waitOf } from '../retries.ts';
import { bindingOf, functionOf, ownerOf, reach, resolve } from '../scope.ts';
import type { Rule, Source } from '../source.ts';

const state =
  /^(?:React\.)?(?:use(?:State|Ref|Memo|SyncExternalStore|Reducer)|ref|shallowRef|signal|createSignal|writable|atom|observable|BehaviorSubject)$/;
const online = /online|offline|connect|network|reachab|snapshot/i;
const telling =
  /console|\blog|track|capture|report|record|metric|analytic|sentry|breadcrumb|telemetry|debug|\binfo|warn|toast|message|alert|notify/i;
const checks = /ping|check|reach|probe|health|verify/i;

/** Whether code sends, or calls what may send. */
const acts = (node: Node | undefined): boolean =>
  node?.has(
    (one) =>
      one.is('AwaitExpression', 'ReturnStatement', 'ThrowStatement', 'ContinueStatement') ||
      (one.type === 'CallExpression' &&
        (requestOf(one) !== undefined ||
          /\.(?:then|mutate|mutateAsync|refetch|fetch)$|sync|flush|send|load|submit|upload|resume/i.test(
            one.callee.path,
          ))),
  ) === true;

/** Whether it only tells of a failure that has been seen otherwise. */
function isTelling(node: Node): boolean {
  for (const around of node.ancestors()) {
    if (around.type === 'CatchClause') return true;
    if (around.type === 'CallExpression' && telling.test(around.callee.path)) return true;
    if (!around.isFunction) continue;
    const { parent } = around;
    const name =
      around.name || (parent?.is('Property', 'VariableDeclarator') === true ? parent.name : '');
    if (/^onError|^handle\w*Error|hint/i.test(name) || parent?.callee.name === 'catch') return true;
  }
  return false;
}

/** Whether a value is kept, or asked for, as the state of the connection. */
function isState(value: Node): boolean {
  const { parent } = value;
  if (parent === undefined) return false;
  if (parent.type === 'CallExpression')
    return (
      parent.callee !== value && (state.test(parent.callee.path) || online.test(parent.callee.path))
    );
  if (parent.is('Property', 'ClassProperty', 'VariableDeclarator'))
    return online.test(parent.name) || parent.name === 'enabled';
  if (parent.type === 'AssignmentExpression') return online.test(parent.get('left')?.words ?? '');
  if (parent.type !== 'ReturnStatement' && !parent.isFunction) return false;
  const { owner, name } = ownerOf(value);
  if (online.test(name) || /^(?:retry|enabled)$/.test(name)) return true;
  return (
    owner?.parent?.type === 'CallExpression' &&
    (state.test(owner.parent.callee.path) || online.test(owner.parent.callee.path))
  );
}

function isTruth(read: Node): boolean {
  let value = read;
  for (const parent of read.ancestors()) {
    if (parent.type === 'UnaryExpression' && parent.operator === 'typeof') return false;
    if (parent.type === 'LogicalExpression') {
      const right = parent.get('right');
      const isFirst = right !== value && right !== undefined && !value.isIn(right);
      if (
        isFirst &&
        right.has((node) => node.type === 'CallExpression' && checks.test(node.callee.path))
      )
        return false;
      if (isFirst && parent.parent?.type === 'ExpressionStatement') return acts(right);
    } else if (parent.type === 'ConditionalExpression' && parent.get('test') === value) {
      const branches = [parent.get('consequent'), parent.get('alternate')];
      if (branches.some(acts)) return true;
      if (!branches.every((one) => /^(?:on|off)line$/i.test(String(one?.value)))) return false;
    } else if (!parent.is('UnaryExpression', 'BinaryExpression', 'ConditionalExpression')) break;
    value = parent;
  }
  const { parent } = value;
  if (parent?.type === 'IfStatement')
    return (
      parent.get('test') === value &&
      (acts(parent.get('consequent')) || acts(parent.get('alternate')))
    );
  return isState(value);
}

export const navigatorOnline: Rule = {
  name: 'navigator-online',
  why: 'navigator.onLine only says that there is some network: true in a captive portal, and false behind some VPNs.',
  remedy:
    'Take it as a hint: send the request, and judge by what comes back; `watchConnectivity` does so.',
  *find({ nodes }) {
    for (const node of nodes)
      if (
        /^(?:(?:window|globalThis|self)\.)?navigator\.onLine$/.test(node.path) &&
        !isTelling(node) &&
        isTruth(node)
      )
        if (node.parent?.type !== 'MemberExpression') yield node;
  },
};

const leaving =
  /^(?:fetchQuery|prefetchQuery|fetchInfiniteQuery|prefetchInfiniteQuery|ensureQueryData|ensureInfiniteQueryData)$/;

function isQueryClient(object: Node | undefined, call: Node): boolean {
  if (object === undefined || object.type === 'ThisExpression') return false;
  if (/quer(?:y|ies)_?(?:Client|Cache)(?:\(\))?$|(?:^|\.)qc$/i.test(object.path)) return true;
  const made = bindingOf(object)?.init;
  if (made !== undefined && /QueryClient$/.test(made.callee.path)) return true;
  return call.list('arguments')[0]?.property('queryKey') !== undefined;
}

export const deprecatedFetchQuery: Rule = {
  name: 'deprecated-fetch-query',
  why: 'The next major version of TanStack Query has no fetchQuery, prefetchQuery or ensureQueryData.',
  remedy: 'Call queryClient.query(), or infiniteQuery(), which do what all of them did.',
  *find({ nodes }) {
    for (const node of nodes) {
      const isCall = node.type === 'CallExpression' && node.callee.type === 'MemberExpression';
      if (
        isCall &&
        leaving.test(node.callee.name) &&
        isQueryClient(node.callee.get('object'), node)
      )
        yield node.callee.get('property');
    }
  },
};

const asks = (root: Node): boolean => {
  for (const node of reach([root])) if (requestOf(node) !== undefined) return true;
  return false;
};
const reading = /^(?:get|fetch|load|check|poll|refresh)[A-Z]/;
const asksByName = (root: Node): boolean =>
  asks(root) ||
  root.has(
    (node) =>
      node.type === 'AwaitExpression' &&
      reading.test(node.get('argument')?.callee.name ?? '') &&
      bindingOf(node.get('argument')?.callee)?.kind !== 'parameter',
  );

/** Whether the timer is kept under a name that something clears. */
function isCleared(call: Node, nodes: readonly Node[]): boolean {
  const clears = nodes.filter(
    ({ type, callee }) =>
      type === 'CallExpression' && /clear(?:Interval|Timeout)$/.test(callee.path),
  );
  const keeper = [...call.ancestors()].find(
    (node) => !node.is('AwaitExpression', 'ArrowFunctionExpression') || node.get('body') !== call,
  );
  const name =
    keeper?.type === 'VariableDeclarator'
      ? keeper.name
      : keeper?.type === 'AssignmentExpression'
        ? keeper.get('left')?.path
        : undefined;
  if (name === undefined)
    return (
      keeper?.is(
        'ReturnStatement',
        'CallExpression',
        'Property',
        'ArrowFunctionExpression',
        'ClassProperty',
      ) === true
    );
  return (
    clears.some(
      (clear) =>
        clear.list('arguments')[0]?.path === name ||
        clear.list('arguments')[0]?.path.split('.').at(-1) === name.split('.').at(-1),
    ) ||
    nodes.some((node) => node.type === 'ReturnStatement' && node.get('argument')?.path === name)
  );
}

const bounds =
  /attempt|retr|tries|count|max|limit|deadline|timeout|elapsed|start|abort|signal|cancel|stop|remaining|left|mounted|running|closed|disposed/i;

/** Whether a loop asks again and again, and only success ends it. */
function isEndlessLoop(loop: Node): boolean {
  const test = loop.get('test');
  const body = loop.get('body');
  if (!loop.is('WhileStatement', 'DoWhileStatement', 'ForStatement') || body === undefined)
    return false;
  const own = [...body.within(false)];
  const waits = [...body.within()].some((node) => waitOf(node) !== undefined);
  const isForever = test === undefined || test.value === true || test.value === 1;
  // A loop with no end at all is the work of a server.
  if (!waits || !(isForever ? asks(body) : asksByName(body))) return false;
  const isUntil = test?.operator === '!' || /^!==?$/.test(test?.operator ?? '');
  if ((!isForever && !isUntil) || bounds.test(test?.words ?? '')) return false;
  const tests = own.flatMap((node) =>
    node.type === 'IfStatement' ? [node.get('test')?.words ?? ''] : [],
  );
  const exits = own.filter(({ type }) => /^(?:Return|Break|Throw)Statement$/.test(type));
  return !tests.some((words) => bounds.test(words)) && exits.length === (isForever ? 1 : 0);
}

/** Whether a function sets a timer for itself, without an end. */
function isEndlessTimer(call: Node, nodes: readonly Node[]): boolean {
  const first = call.list('arguments')[0];
  const { owner: around } = ownerOf(call);
  const owners = [...call.ancestors()].filter((node) => node.isFunction);
  const target =
    first?.isFunction === true
      ? [...first.within()].flatMap((node) =>
          node.type === 'CallExpression' ? [functionOf(node.callee)] : [],
        )
      : [functionOf(first)];
  const self = owners.find((owner) => owner !== first && target.includes(owner));
  if (around === undefined || self === undefined || !asks(self) || isCleared(call, nodes))
    return false;
  const given =
    first?.isFunction === true &&
    [...first.within()].some((node) => node.type === 'BinaryExpression');
  const tests = [...self.within()].flatMap((node) =>
    node.is('IfStatement', 'ConditionalExpression') ? [node.get('test')?.words ?? ''] : [],
  );
  return !given && !tests.some((words) => bounds.test(words)) && tests.length <= 1;
}

const job =
  /\b(?:job|task|progress|processing|\w*[-_]?(?:job|task|progress)|(?:payment|order|build|deploy\w*|upload|export|import|transaction|run)[-_ ]?status)\b/i;

function* endlessIntervals({ queries }: Source): Generator<Node | undefined> {
  for (const { object } of queries) {
    const every = resolve(object.option('refetchInterval'))?.value;
    if (typeof every !== 'number' || every === 0) continue;
    const isHidden = object.option('refetchIntervalInBackground')?.value === true;
    const key = object.option('queryKey')?.words ?? '';
    if (isHidden || job.test(key)) yield object.property('refetchInterval');
  }
}

export const endlessPoll: Rule = {
  name: 'endless-poll',
  why: 'Nothing ends it: it asks when the page is left, when the job has failed, and when the server is down.',
  remedy:
    'End it when it is done, has failed, or a limit has passed, and when the component is gone.',
  *find(source) {
    const { nodes } = source;
    yield* endlessIntervals(source);
    for (const node of nodes) {
      if (isEndlessLoop(node)) yield node;
      if (node.type !== 'CallExpression') continue;
      const isTimer = /^(?:(?:window|globalThis|self)\.)?set(?:Interval|Timeout)$/.test(
        node.callee.path,
      );
      if (!isTimer) continue;
      if (/Timeout$/.test(node.callee.path)) {
        if (isEndlessTimer(node, nodes)) yield node;
        continue;
      }
      const callback = functionOf(node.list('arguments')[0]);
      if (callback !== undefined && asks(callback) && !isCleared(node, nodes)) yield node;
    }
  },
};
