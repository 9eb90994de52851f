interface Place {
  readonly line: number;
  readonly column: number;
}

/** A node as the parser gives it. */
export interface ParsedNode {
  readonly type: string;
  readonly loc: { readonly start: Place; readonly end: Place };
  readonly [field: string]: unknown;
}

const isParsed = (value: unknown): value is ParsedNode =>
  typeof value === 'object' && value !== null && 'type' in value && 'loc' in value;

/** Wrappers that change no value at run time, and the field that has what they wrap. */
const wrappers: Readonly<Record<string, string>> = {
  ParenthesizedExpression: 'expression',
  TSAsExpression: 'expression',
  TSInstantiationExpression: 'expression',
  TSNonNullExpression: 'expression',
  TSParameterProperty: 'parameter',
  TSSatisfiesExpression: 'expression',
  TSTypeAssertion: 'expression',
  TypeCastExpression: 'expression',
};

/** One name for what the rules need not tell apart. */
const types: Readonly<Record<string, string>> = {
  BooleanLiteral: 'Literal',
  ClassPrivateMethod: 'ClassMethod',
  ClassPrivateProperty: 'ClassProperty',
  NumericLiteral: 'Literal',
  ObjectProperty: 'Property',
  OptionalCallExpression: 'CallExpression',
  OptionalMemberExpression: 'MemberExpression',
  StringLiteral: 'Literal',
};

const functions: ReadonlySet<string> = new Set([
  'ArrowFunctionExpression',
  'ClassMethod',
  'FunctionDeclaration',
  'FunctionExpression',
  'ObjectMethod',
]);

function unwrap(value: unknown): unknown {
  const field = isParsed(value) ? wrappers[value.type] : undefined;
  return field === undefined ? value : unwrap((value as ParsedNode)[field]);
}

/** A node of the syntax tree without types and wrappers, which knows its parent. */
export class Node {
  readonly type: string;
  readonly parent: Node | undefined;
  readonly line: number;
  readonly column: number;
  readonly children: readonly Node[];
  readonly #fields: Record<string, unknown> = {};
  #words: string | undefined;
  #declared: unknown;

  constructor(parsed: ParsedNode, parent?: Node) {
    this.type = types[parsed.type] ?? parsed.type;
    this.parent = parent;
    this.line = parsed.loc.start.line;
    this.column = parsed.loc.start.column + 1;
    const children: Node[] = [];
    const convert = (value: unknown): unknown => {
      const plain = unwrap(value);
      if (!isParsed(plain)) return plain;
      if (plain.type.startsWith('TS') || plain.type.endsWith('TypeAnnotation')) return undefined;
      const node = new Node(plain, this);
      children.push(node);
      return node;
    };
    for (const [name, value] of Object.entries(parsed))
      if (name !== 'loc' && name !== 'extra' && !name.endsWith('Comments'))
        this.#fields[name] = Array.isArray(value) ? value.map(convert) : convert(value);
    this.children = children;
  }

  get(field: string): Node | undefined {
    const value = this.#fields[field];
    return value instanceof Node ? value : undefined;
  }

  list(field: string): readonly Node[] {
    const value = this.#fields[field];
    return Array.isArray(value) ? value.filter((one) => one instanceof Node) : [];
  }

  is(...names: readonly string[]): boolean {
    return names.includes(this.type);
  }

  get isFunction(): boolean {
    return functions.has(this.type);
  }

  get operator(): string {
    const operator = this.#fields['operator'];
    return typeof operator === 'string' ? operator : '';
  }

  /** The value of a literal. */
  get value(): unknown {
    return this.type === 'Literal' ? this.#fields['value'] : undefined;
  }

  /** The name of an identifier, of the property that is read, or of the key of a property, method or field. */
  get name(): string {
    const own = this.#fields['name'];
    if (typeof own === 'string') return own;
    const named = this.get(this.type === 'MemberExpression' ? 'property' : 'key');
    if (named === undefined) return this.get('id')?.name ?? '';
    if (named.type === 'Literal') return String(named.value);
    return this.#fields['computed'] === true ? '' : named.name;
  }

  /** The names, texts and numbers in it: its source without comments. */
  get words(): string {
    const raw = this.#fields['value'];
    const { raw: quasi } = (raw ?? {}) as { readonly raw?: string };
    this.#words ??=
      this.type === 'Literal'
        ? String(raw)
        : this.type === 'TemplateElement'
          ? (quasi ?? '')
          : [
              this.type === 'Identifier' || this.type === 'JSXIdentifier' ? this.name : '',
              ...this.children.map(({ words }) => words),
            ]
              .filter(Boolean)
              .join(' ');
    return this.#words;
  }

  /** `axios.post`, `this.client.get`, `getClient().query`, with `?` for what has no name. */
  get path(): string {
    if (this.type === 'ThisExpression') return 'this';
    if (this.type === 'Identifier') return this.name;
    if (this.type === 'MemberExpression')
      return `${this.get('object')?.path ?? '?'}.${this.name || '?'}`;
    if (this.type === 'AwaitExpression') return this.get('argument')?.path ?? '?';
    return this.type === 'CallExpression' ? `${this.callee.path}()` : '?';
  }

  get callee(): Node {
    return this.get('callee') ?? this;
  }

  /** The arguments of a call. */
  get args(): readonly Node[] {
    return this.list('arguments');
  }

  get isCall(): boolean {
    return this.type === 'CallExpression';
  }

  /** Whether it calls something of this path. */
  calls(path: RegExp): boolean {
    return this.isCall && path.test(this.callee.path);
  }

  /** The words of a field; none, if there is no such field. */
  wordsOf(field: string): string {
    return this.get(field)?.words ?? '';
  }

  get isObject(): boolean {
    return this.type === 'ObjectExpression';
  }

  /** Whether an object has what this file may not show. */
  get isOpen(): boolean {
    return !this.isObject || this.list('properties').some(({ type }) => type === 'SpreadElement');
  }

  /** The property of this name in an object. */
  property(name: string): Node | undefined {
    return this.list('properties').find((one) => one.name === name);
  }

  /** The value of the property of this name: a method is its own value. */
  option(name: string): Node | undefined {
    const property = this.property(name);
    return property?.type === 'Property' ? property.get('value') : property;
  }

  /** It, and all that is in it; without what is in the functions in it, if these are left out. */
  *within(functionsToo = true): Generator<Node> {
    yield this;
    for (const child of this.children)
      if (functionsToo || !child.isFunction) yield* child.within(functionsToo);
  }

  *ancestors(): Generator<Node> {
    for (let node = this.parent; node !== undefined; node = node.parent) yield node;
  }

  has(test: (node: Node) => boolean): boolean {
    return test(this) || this.children.some((child) => child.has(test));
  }

  /** The declarations of a scope, found once. */
  declared<T>(findAll: (scope: Node) => T): T {
    this.#declared ??= findAll(this);
    return this.#declared as T;
  }

  isIn(other: Node | undefined): boolean {
    return this.parent !== undefined && (this.parent === other || this.parent.isIn(other));
  }
}
