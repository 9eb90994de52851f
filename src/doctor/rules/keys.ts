import type { Node } from '../node.ts';
import { bindingOf, functionOf, ownerOf, reach, resolve, returnsOf } from '../scope.ts';
import type { Rule, Source } from '../source.ts';

const keyed = /idempot\w*[-_ ]?(?:key|token)$|^paypal-request-id$/i;
const strong =
  /^(?:randomUUID|randomBytes|getRandomValues|u?uid(?:v\d)?|uuid\w*|v[1-7]|nanoid|ulid|cuid2?|createId|sha\d+|digest|hash)$/i;
const imported = /^(?:generate|create|make|new|random|gen)\w*(?:uuid|idempot\w*key)\w*$/i;
const kept = /getItem|\bget\b|current|storage|cache/i;

/** The values that become idempotency keys. */
function* keysIn({ nodes }: Source): Generator<Node> {
  for (const node of nodes) {
    if (node.is('Property', 'ClassProperty') && keyed.test(node.name)) {
      const value = node.get('value');
      if (value !== undefined && node.parent?.type !== 'ObjectPattern') yield value;
    }
    if (node.is('AssignmentExpression', 'AssignmentPattern') && node.operator !== '??=') {
      const value = node.get('right');
      if (value !== undefined && keyed.test(node.get('left')?.name ?? '')) yield value;
    }
    if (node.type === 'VariableDeclarator') {
      const id = node.get('id');
      const name = id?.type === 'ArrayPattern' ? id.list('elements')[0]?.name : id?.name;
      const value = node.get('init');
      if (value !== undefined && keyed.test(name ?? '') && !value.isFunction) yield value;
    }
    if (
      node.type === 'CallExpression' &&
      /(?:set|append|[sS]etRequestHeader|[sS]etHeader)$/.test(node.callee.name)
    ) {
      const [name, value] = node.list('arguments');
      if (value !== undefined && keyed.test(String(name?.value))) yield value;
    }
  }
}

const callName = (node: Node): string =>
  node.is('CallExpression', 'NewExpression') ? node.callee.name || node.callee.path : '';

/** The call that makes a key of its own; undefined where the value may come from elsewhere. */
function makerOf(value: Node): Node | undefined {
  for (const node of value.within()) {
    if (node.type === 'LogicalExpression' || (node.isFunction && node !== value)) return undefined;
    const name = callName(node);
    if (name === '') continue;
    const helper = functionOf(node.callee);
    if (
      helper === undefined
        ? strong.test(name) || imported.test(name) || isWeakSource(node)
        : makes(helper)
    )
      return node;
  }
  return undefined;
}

function makes(helper: Node): boolean {
  if (kept.test(helper.words)) return false;
  return [...returnsOf(helper)].some((value) => makerOf(value) !== undefined);
}

function isWeakSource(node: Node): boolean {
  if (node.type === 'NewExpression')
    return node.callee.path === 'Date' && node.list('arguments').length === 0;
  return (
    node.type === 'CallExpression' &&
    /^(?:Date\.now|Math\.random|performance\.now)$/.test(node.callee.path)
  );
}

/** A value and the variables of this file that it is made of. */
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
    const helper = node.type === 'CallExpression' ? functionOf(node.callee) : undefined;
    if (helper !== undefined) yield* madeOf(helper, seen);
  }
}

const isWeak = (nodes: readonly Node[]): boolean =>
  nodes.some(isWeakSource) && !nodes.some((node) => strong.test(node.name));

/** Functions that run anew in each attempt. */
function attemptsIn({ nodes, retries, queries, axiosRetries }: Source): readonly Node[] {
  const mutations = queries.flatMap(({ kind, fn }) => (kind === 'mutation' && fn ? [fn] : []));
  const interceptors = nodes.flatMap((node) => {
    const isRequest =
      node.type === 'CallExpression' && /interceptors\.request\.use$/.test(node.callee.path);
    const handler =
      isRequest && axiosRetries.length > 0 ? functionOf(node.list('arguments')[0]) : undefined;
    return handler === undefined ? [] : [handler];
  });
  const looped = retries.flatMap(({ kind, attempt }) => (kind === 'query' ? [] : attempt));
  return [...mutations, ...interceptors, ...looped];
}

const isGuarded = (key: Node): boolean =>
  [...key.ancestors()].some(
    (node) => node.type === 'IfStatement' && /idempot/i.test(node.get('test')?.words ?? ''),
  );

export const keyPerAttempt: Rule = {
  name: 'key-per-attempt',
  why: 'Each attempt gets a key of its own, so the server cannot know that it is the same operation.',
  remedy:
    'Make the key once, where the user acts, and hand it to each attempt; `mutationOptions` does so.',
  *find(source) {
    const running = new Set(reach(attemptsIn(source)));
    for (const key of keysIn(source)) {
      if (!running.has(key) || isGuarded(key)) continue;
      const binding = bindingOf(key);
      // A variable that is itself named as a key is found where it is declared.
      if (binding !== undefined && keyed.test(binding.node.get('id')?.name ?? '')) continue;
      const init = binding?.init;
      if (init !== undefined) {
        if (running.has(init)) yield makerOf(init);
      } else yield makerOf(key);
    }
  },
};

export const weakKey: Rule = {
  name: 'weak-key',
  why: 'A key of the time or of Math.random() is not unique, and another one after a reload.',
  remedy: 'Use crypto.randomUUID(), kept until the outcome is known.',
  *find(source) {
    for (const key of keysIn(source)) {
      const init = bindingOf(key)?.init;
      if (key.type === 'Identifier' && init === undefined) continue;
      const named =
        key.type === 'Identifier' && keyed.test(bindingOf(key)?.node.get('id')?.name ?? '');
      if (!named && isWeak([...madeOf(resolve(key) ?? key)])) yield init ?? key;
    }
    for (const node of source.nodes) {
      if (
        node.type !== 'ReturnStatement' &&
        !(node.parent?.isFunction && node.parent.get('body') === node)
      )
        continue;
      const { owner, name } = ownerOf(node);
      const value = node.type === 'ReturnStatement' ? node.get('argument') : node;
      if (owner === undefined || value === undefined || value.type === 'BlockStatement') continue;
      if (!keyed.test(name) || /^(?:is|has|check|validate)/.test(name)) continue;
      if (isWeak([...madeOf(value)]) && !owner.has((one) => strong.test(one.name))) yield value;
    }
  },
};
