import { waitOf } from '../loops.ts';
import type { Node } from '../node.ts';
import { requestOf } from '../requests.ts';
import { bindingOf, functionOf, reach, resolve } from '../scope.ts';
import type { Rule, Source } from '../source.ts';

const isSent = (node: Node): boolean => requestOf(node) !== undefined;
const asks = (root: Node): boolean => [...reach([root])].some(isSent);

/** Whether it awaits `getJob(id)` or the like. */
const asksByName = (root: Node): boolean =>
  root.has((node) => {
    const call = node.type === 'AwaitExpression' ? node.get('argument') : undefined;
    const isRead = /^(?:get|fetch|load|check|poll|refresh)[A-Z]/.test(call?.callee.name ?? '');
    return isRead && bindingOf(call?.callee)?.kind !== 'parameter';
  });

/** The node that keeps the value of a call: a variable, an assignment, or another. */
function keeperOf(call: Node): Node | undefined {
  const { parent } = call;
  return parent?.type === 'ArrowFunctionExpression' && parent.get('body') === call
    ? keeperOf(parent)
    : parent;
}

/** Whether a timer is kept where something clears it, or may clear it. */
function isCleared(call: Node, nodes: readonly Node[]): boolean {
  const keeper = keeperOf(call);
  if (keeper?.type === 'ExpressionStatement' || keeper === undefined) return false;
  const path = keeper.type === 'VariableDeclarator' ? keeper.name : keeper.get('left')?.path;
  const last = path?.split('.').at(-1);
  if (last === undefined) return true;
  const clears = (node: Node): boolean => {
    const cleared = node.calls(/clear(?:Interval|Timeout)$/) ? node.args[0] : undefined;
    const returned = node.type === 'ReturnStatement' ? node.get('argument') : undefined;
    return (cleared ?? returned)?.path.split('.').at(-1) === last;
  };
  return nodes.some(clears);
}

const bound =
  /attempt|retr|tries|count|max|limit|deadline|timeout|elapsed|start|abort|signal|cancel|stop|remaining|left|mounted|running|closed|disposed/i;
const isBound = (node: Node): boolean =>
  node.is('IfStatement', 'ConditionalExpression') && bound.test(node.wordsOf('test'));

/** Whether a loop ends only by itself (`while (true)`), or with the state that it waits for. */
function endOf(test: Node | undefined): 'never' | 'state' | undefined {
  if (test === undefined || test.value === true || test.value === 1) return 'never';
  return test.operator.startsWith('!') && !bound.test(test.words) ? 'state' : undefined;
}

/** Whether a loop asks again and again, and only success ends it. */
function isEndlessLoop(loop: Node): boolean {
  const body = loop.get('body');
  if (!/^(?:While|DoWhile|For)Statement$/.test(loop.type) || body === undefined) return false;
  const end = endOf(loop.get('test'));
  const exits = [...body.within(false)].filter(({ type }) => /^(?:Return|Break|Throw)S/.test(type));
  // A loop with no end at all is the work of a server.
  if (end === undefined || exits.length !== (end === 'never' ? 1 : 0)) return false;
  const isPoll = asks(body) || (end === 'state' && asksByName(body));
  return isPoll && body.has((node) => waitOf(node) !== undefined) && !body.has(isBound);
}

/** Whether a function sets a timer for itself, without an end. */
function isEndlessTimer(call: Node, nodes: readonly Node[]): boolean {
  const [callback] = call.args;
  const calls =
    callback?.isFunction === true ? [...callback.within()].filter((node) => node.isCall) : [];
  const targets = [functionOf(callback), ...calls.map(({ callee }) => functionOf(callee))];
  const self = [...call.ancestors()].find((node) => node.isFunction && targets.includes(node));
  // `poll(id, left - 1)` counts.
  const isCounting = calls.some(({ args }) => args.some(({ type }) => type === 'BinaryExpression'));
  if (self === undefined || isCounting || !asks(self) || isCleared(call, nodes)) return false;
  const tests = [...self.within()].filter((node) =>
    node.is('IfStatement', 'ConditionalExpression'),
  );
  return tests.length <= 1 && !tests.some(isBound);
}

const job =
  /\b(?:\w*(?:job|task|progress)|processing|(?:payment|order|build|deploy\w*|upload|export|import|transaction|run)[-_ ]?status)\b/i;

/** The intervals of React Query that are always on, for a job that ends, or in pages that are hidden. */
function* endlessIntervals({ queries }: Source) {
  for (const { object } of queries) {
    const isHidden = object.option('refetchIntervalInBackground')?.value === true;
    const isOn = Number(resolve(object.option('refetchInterval'))?.value) > 1;
    if (isOn && (isHidden || job.test(object.option('queryKey')?.words ?? '')))
      yield object.property('refetchInterval');
  }
}

export const endlessPoll: Rule = {
  name: 'endless-poll',
  why: 'Nothing ends it: it goes on when the page is left, when the job has failed, and when the server is down.',
  remedy:
    'End it when the job is done or has failed, after a limit, and when the component is gone.',
  *find(source) {
    yield* endlessIntervals(source);
    for (const node of source.nodes) {
      const isTimer = node.calls(/^(?:(?:window|globalThis|self)\.)?set(?:Interval|Timeout)$/);
      const callback = isTimer && node.calls(/Interval$/) ? functionOf(node.args[0]) : undefined;
      if (callback !== undefined && asks(callback) && !isCleared(node, source.nodes)) yield node;
      if (isTimer && node.calls(/Timeout$/) && isEndlessTimer(node, source.nodes)) yield node;
      if (isEndlessLoop(node)) yield node;
    }
  },
};
