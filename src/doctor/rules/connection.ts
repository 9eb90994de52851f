import type { Node } from '../node.ts';
import { requestOf } from '../requests.ts';
import { ownerOf } from '../scope.ts';
import type { Rule } from '../source.ts';

const keeping =
  /^(?:React\.)?(?:use(?:State|Ref|Memo|SyncExternalStore|Reducer)|ref|shallowRef|signal|createSignal|writable|atom|observable|BehaviorSubject)$/;
const online = /online|offline|connect|network|reachab|snapshot/i;
const telling =
  /console|\blog|track|capture|report|record|metric|analytic|sentry|breadcrumb|telemetry|debug|\binfo|warn|toast|message|alert|notify/i;
const checking = /ping|check|reach|probe|health|verify/i;
const sending =
  /\.(?:then|mutate|mutateAsync|refetch|fetch)$|sync|flush|send|load|submit|upload|resume/i;

/** Whether code sends, or ends here, or calls what may send. */
const acts = (node: Node | undefined): boolean =>
  node?.has(
    (one) =>
      one.is('AwaitExpression', 'ReturnStatement', 'ThrowStatement', 'ContinueStatement') ||
      one.calls(sending) ||
      requestOf(one) !== undefined,
  ) === true;

/** Whether it only tells of a failure that has been seen otherwise, or is itself a hint. */
const isTelling = (node: Node): boolean =>
  [...node.ancestors()].some((around) => {
    if (around.type === 'CatchClause' || around.calls(telling)) return true;
    const { parent } = around;
    const name = around.name || (parent?.is('Property', 'VariableDeclarator') ? parent.name : '');
    return (
      around.isFunction &&
      (/^onError|^handle\w*Error|hint/i.test(name) || parent?.calls(/\.catch$/) === true)
    );
  });

const keeps = (call: Node | undefined): boolean =>
  call?.calls(keeping) === true || call?.calls(online) === true;

/** Whether a value is kept, or asked for, as the state of the connection. */
function isState(value: Node): boolean {
  const { parent } = value;
  if (parent?.is('Property', 'ClassProperty', 'VariableDeclarator'))
    return online.test(parent.name) || parent.name === 'enabled';
  if (parent?.type === 'AssignmentExpression') return online.test(parent.wordsOf('left'));
  if (parent?.type !== 'ReturnStatement' && parent?.isFunction !== true)
    return parent?.callee !== value && keeps(parent);
  const { owner, name } = ownerOf(value);
  return online.test(name) || /^(?:retry|enabled)$/.test(name) || keeps(owner?.parent);
}

/** Whether a choice between two values does more than to name the connection: undefined if it does not. */
function isTruthOfChoice(choice: Node): boolean | undefined {
  const branches = [choice.get('consequent'), choice.get('alternate')];
  if (branches.some(acts)) return true;
  return branches.every((one) => /^(?:on|off)line$/i.test(String(one?.value))) ? undefined : false;
}

/** Whether what follows `navigator.onLine &&` sends; undefined if that is not the end of it. */
function isTruthOfGate(gate: Node, value: Node): boolean | undefined {
  const right = gate.get('right');
  if (right === undefined || right === value) return undefined;
  if (right.has((node) => node.calls(checking))) return false;
  return gate.parent?.type === 'ExpressionStatement' ? acts(right) : undefined;
}

/** Whether the page believes what it reads. */
function isTruth(read: Node): boolean {
  let value = read;
  for (const parent of read.ancestors()) {
    if (parent.operator === 'typeof') return false;
    const isChoice = parent.type === 'ConditionalExpression' && parent.get('test') === value;
    const isGate = parent.type === 'LogicalExpression';
    const found = isChoice
      ? isTruthOfChoice(parent)
      : isGate
        ? isTruthOfGate(parent, value)
        : undefined;
    if (found !== undefined) return found;
    if (parent.type === 'IfStatement')
      return acts(parent.get('consequent')) || acts(parent.get('alternate'));
    if (!/^(?:Unary|Binary|Logical|Conditional)Expression$/.test(parent.type))
      return isState(value);
    value = parent;
  }
  return false;
}

export const navigatorOnline: Rule = {
  name: 'navigator-online',
  why: 'navigator.onLine only says that there is some network: it is true in a captive portal, and false behind some VPNs.',
  remedy:
    'Take it as a hint: send the request, and see what comes back; `watchConnectivity` does so.',
  *find({ nodes }) {
    const path = /^(?:(?:window|globalThis|self)\.)?navigator\.onLine$/;
    for (const node of nodes)
      if (
        node.type === 'MemberExpression' &&
        path.test(node.path) &&
        !isTelling(node) &&
        isTruth(node)
      )
        yield node;
  },
};
