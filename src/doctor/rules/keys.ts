import type { Node } from '../node.ts';
import { bindingOf, functionOf, ownerOf, reach, resolve, returnsOf } from '../scope.ts';
import type { Rule, Source } from '../source.ts';

const keyed = /idempot\w*[-_ ]?(?:key|token)$|^paypal-request-id$/i;
const strong =
  /^(?:randomUUID|randomBytes|getRandomValues|u?uid(?:v\d)?|uuid\w*|v[1-7]|nanoid|ulid|cuid2?|createId|sha\d+|digest|hash)$/i;
const making = /^(?:generate|create|make|new|random|gen)\w*(?:uuid|idempot\w*key)\w*$/i;
const keeping = /getItem|\bget\b|current|storage|cache/i;
const setting = /(?:^|\.)(?:set|append|set(?:Request)?Header)$/;

/** The name of a field, also by a constant: `[KEY_HEADER]: …`. */
const nameOf = (field: Node | undefined): string =>
  field?.name || String(resolve(field?.get('property') ?? field?.get('key'))?.value);

/** The name that a node gives to a value, and the value. */
function assigned(node: Node): readonly [name: string | undefined, value: Node | undefined] {
  if (node.calls(setting)) return [String(resolve(node.args[0])?.value), node.args[1]];
  if (node.is('Property', 'ClassProperty')) {
    const isTaken = node.parent?.type === 'ObjectPattern';
    return [nameOf(node), isTaken ? undefined : node.get('value')];
  }
  if (node.is('AssignmentExpression', 'AssignmentPattern') && node.operator !== '??=')
    return [nameOf(node.get('left')), node.get('right')];
  const id = node.type === 'VariableDeclarator' ? node.get('id') : undefined;
  const init = node.get('init');
  return [(id?.list('elements')[0] ?? id)?.name, init?.isFunction === true ? undefined : init];
}

/** The value that a node makes an idempotency key; undefined if it makes none. */
function keyIn(node: Node): Node | undefined {
  const [name, value] = assigned(node);
  return keyed.test(name ?? '') ? value : undefined;
}

const keysIn = ({ nodes }: Source): readonly Node[] =>
  nodes.map(keyIn).filter((key) => key !== undefined);

/** Whether it is a variable that is itself named as a key, and found where it is declared. */
const isNamedKey = (key: Node): boolean => keyed.test(bindingOf(key)?.node.get('id')?.name ?? '');

const isWeakSource = (node: Node): boolean =>
  node.calls(/^(?:Date\.now|Math\.random|performance\.now)$/) ||
  (node.type === 'NewExpression' && node.callee.path === 'Date' && node.args.length === 0);

/** The call that makes a key anew; undefined where the value may come from elsewhere. */
function makerOf(value: Node): Node | undefined {
  for (const node of value.within()) {
    if (node.type === 'LogicalExpression' || node.isFunction) return undefined;
    if (isWeakSource(node)) return node;
    const helper = node.isCall ? functionOf(node.callee) : undefined;
    const name = node.isCall ? node.callee.name : '';
    if (helper === undefined ? strong.test(name) || making.test(name) : makes(helper)) return node;
  }
  return undefined;
}

const makes = (helper: Node): boolean =>
  !keeping.test(helper.words) &&
  [...returnsOf(helper)].some((value) => makerOf(value) !== undefined);

/** A value, and the variables and functions of this file that it is made of. */
function* madeOf(value: Node, seen = new Set<Node>()): Generator<Node> {
  if (seen.has(value)) return;
  seen.add(value);
  for (const node of value.within()) {
    yield node;
    const { parent } = node;
    // A field of a variable is not made of all of it; a method's result is.
    const isPart = parent?.type === 'MemberExpression' && parent.parent?.get('callee') !== parent;
    const init = isPart ? undefined : bindingOf(node)?.init;
    if (init !== undefined) yield* madeOf(init, seen);
    const helper = node.isCall ? functionOf(node.callee) : undefined;
    if (helper !== undefined) yield* madeOf(helper, seen);
  }
}

function isWeak(value: Node): boolean {
  const nodes = [...madeOf(value)];
  return nodes.some(isWeakSource) && !nodes.some(({ name }) => strong.test(name));
}

/** Functions that run anew in each attempt. */
function attemptsIn({ nodes, retries, queries, axiosRetries }: Source): readonly Node[] {
  const interceptors = nodes
    .filter((node) => axiosRetries.length > 0 && node.calls(/interceptors\.request\.use$/))
    .map(({ args }) => functionOf(args[0]));
  const mutations = queries.map(({ kind, fn }) => (kind === 'mutation' ? fn : undefined));
  const looped = retries.flatMap(({ kind, attempt }) => (kind === 'query' ? [] : attempt));
  return [...mutations, ...interceptors, ...looped].filter((fn) => fn !== undefined);
}

const isGuarded = (key: Node): boolean =>
  [...key.ancestors()].some(
    (one) => one.type === 'IfStatement' && /idempot/i.test(one.wordsOf('test')),
  );

export const keyPerAttempt: Rule = {
  name: 'key-per-attempt',
  why: 'Each attempt gets a key of its own, so the server cannot know that it is the same operation.',
  remedy:
    'Make the key once, where the user acts, and give it to each attempt; `mutationOptions` does so.',
  *find(source) {
    const running = new Set(reach(attemptsIn(source)));
    for (const key of keysIn(source)) {
      if (!running.has(key) || isGuarded(key) || isNamedKey(key)) continue;
      const made = bindingOf(key)?.init ?? key;
      if (running.has(made)) yield makerOf(made);
    }
  },
};

/** Whether a function is named as one that makes keys, and has nothing strong in it. */
function isKeyMaker(fn: Node): boolean {
  if (!fn.isFunction || fn.has(({ name }) => strong.test(name))) return false;
  const { name } = ownerOf(fn.get('body') ?? fn);
  return keyed.test(name) && !/^(?:is|has|check|validate)/.test(name);
}

export const weakKey: Rule = {
  name: 'weak-key',
  why: 'A key of the time or of Math.random() is not unique, and is another one after a reload.',
  remedy: 'Use crypto.randomUUID(), and keep it until the outcome is known.',
  *find(source) {
    for (const key of keysIn(source)) {
      const isShown = key.type !== 'Identifier' || bindingOf(key)?.init !== undefined;
      if (isShown && !isNamedKey(key) && isWeak(resolve(key) ?? key))
        yield bindingOf(key)?.init ?? key;
    }
    for (const fn of source.nodes.filter(isKeyMaker))
      for (const value of returnsOf(fn)) if (isWeak(value)) yield value;
  },
};
