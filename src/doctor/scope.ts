import type { Node } from './node.ts';

/** A name, and its meaning in this file. */
export interface Binding {
  readonly kind: 'function' | 'import' | 'parameter' | 'variable';
  readonly node: Node;
  /** Its first value, unless it is taken out of an object or a list. */
  readonly init?: Node | undefined;
  /** Where it is imported from, and by which name. */
  readonly from?: { readonly source: string; readonly name: string } | undefined;
}

/** The identifiers that a pattern names. */
function* namesIn(pattern: Node | undefined): Generator<Node> {
  if (pattern === undefined) return;
  if (pattern.type === 'Identifier') yield pattern;
  else if (pattern.type === 'AssignmentPattern') yield* namesIn(pattern.get('left'));
  else if (pattern.type === 'Property') yield* namesIn(pattern.get('value'));
  else if (pattern.is('ObjectPattern', 'ArrayPattern', 'RestElement'))
    for (const child of pattern.children) yield* namesIn(child);
}

/** `require('axios')` is an import, too. */
function requiredFrom(init: Node | undefined): string | undefined {
  const call = init?.type === 'MemberExpression' ? init.get('object') : init;
  if (call?.type !== 'CallExpression' || call.callee.path !== 'require') return undefined;
  const source = call.args[0]?.value;
  return typeof source === 'string' ? source : undefined;
}

function bindingsOf(statement: Node): [name: string, binding: Binding][] {
  if (statement.is('ExportNamedDeclaration', 'ExportDefaultDeclaration')) {
    const declaration = statement.get('declaration');
    return declaration === undefined ? [] : bindingsOf(declaration);
  }
  if (statement.is('FunctionDeclaration', 'ClassDeclaration'))
    return [[statement.name, { kind: 'function', node: statement }]];
  if (statement.type === 'ImportDeclaration') {
    const source = String(statement.get('source')?.value);
    return statement.list('specifiers').map((node) => {
      const name = node.get('imported')?.words ?? 'default';
      return [node.get('local')?.name ?? '', { kind: 'import', node, from: { source, name } }];
    });
  }
  return statement.list('declarations').flatMap((node) => {
    const id = node.get('id');
    const init = node.get('init');
    const source = requiredFrom(init);
    return [...namesIn(id)].map((name): [string, Binding] => [
      name.name,
      {
        kind: source === undefined ? 'variable' : 'import',
        node,
        init: name === id ? init : undefined,
        from:
          source === undefined ? undefined : { source, name: id === name ? 'default' : name.name },
      },
    ]);
  });
}

/** The names that a scope declares. */
function declaredIn(scope: Node): ReadonlyMap<string, Binding> {
  const parameters = scope.isFunction ? scope.list('params') : [];
  const first = scope.get('init') ?? scope.get('left');
  const isBlock = scope.is('Program', 'BlockStatement');
  const statements = isBlock
    ? scope.list('body')
    : first?.type === 'VariableDeclaration'
      ? [first]
      : [];
  return new Map([
    ...parameters.flatMap((node) =>
      [...namesIn(node)].map(({ name }): [string, Binding] => [name, { kind: 'parameter', node }]),
    ),
    ...statements.flatMap(bindingsOf),
  ]);
}

export function bindingOf(identifier: Node | undefined): Binding | undefined {
  if (identifier?.type !== 'Identifier') return undefined;
  for (const scope of identifier.ancestors()) {
    if (!scope.isFunction && !/^(?:Program|BlockStatement|For)/.test(scope.type)) continue;
    const found = scope.declared(declaredIn).get(identifier.name);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Where the first name of `axios.create` or `pRetry` is imported from. */
export function importOf(node: Node | undefined): Binding['from'] {
  const root = node?.type === 'MemberExpression' ? node.get('object') : node;
  return bindingOf(root)?.from;
}

/** The function, object or number behind a name, as far as this file shows; else the node itself. */
export function resolve(node: Node | undefined, depth = 4): Node | undefined {
  if (node === undefined || depth === 0) return node;
  if (node.type === 'Identifier') {
    const binding = bindingOf(node);
    if (binding?.kind === 'function') return binding.node;
    return binding?.init === undefined ? node : resolve(binding.init, depth - 1);
  }
  if (node.type === 'MemberExpression') {
    const object = resolve(node.get('object'), depth - 1);
    const value = object?.type === 'ObjectExpression' ? object.option(node.name) : undefined;
    return value === undefined ? node : resolve(value, depth - 1);
  }
  const isWrapped = node.type === 'CallExpression' && /\buseCallback$/.test(node.callee.path);
  return isWrapped ? resolve(node.args[0], depth - 1) : node;
}

export function functionOf(node: Node | undefined): Node | undefined {
  const found = resolve(node);
  return found?.isFunction === true ? found : undefined;
}

/** All that runs when these run: what is in them, and in the functions of this file that they call. */
export function* reach(roots: readonly Node[]): Generator<Node> {
  const seen = new Set<Node>();
  const open = [...roots];
  for (let root = open.pop(); root !== undefined; root = open.pop()) {
    if (seen.has(root)) continue;
    seen.add(root);
    for (const node of root.within()) {
      yield node;
      const called = node.type === 'CallExpression' ? functionOf(node.callee) : undefined;
      if (called !== undefined) open.push(called);
    }
  }
}

/** The function that it is in, and what that is called. */
export function ownerOf(node: Node): { readonly owner: Node | undefined; readonly name: string } {
  for (const owner of node.ancestors()) {
    if (!owner.isFunction) continue;
    const { parent } = owner;
    const isNamed = parent?.is('VariableDeclarator', 'Property', 'ClassProperty') === true;
    return { owner, name: owner.name || (isNamed ? parent.name : '') };
  }
  return { owner: undefined, name: '' };
}

/** The values that a function returns. */
export function* returnsOf(fn: Node): Generator<Node> {
  const body = fn.get('body');
  if (body === undefined) return;
  if (body.type !== 'BlockStatement') yield body;
  else
    for (const node of body.within(false)) {
      const value = node.type === 'ReturnStatement' ? node.get('argument') : undefined;
      if (value !== undefined) yield value;
    }
}
