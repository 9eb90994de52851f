import { inDevelopment } from '../../core/lib/development.ts';
import { reject } from '../../core/lib/input/check.ts';

/** A reference is a text, so that it is an id like others: in variables, in the cache, as a key of React. */
const prefix = 'steadfetch~';
const end = '~';
const pattern = /steadfetch~([^~]+)~/g;

/** The characters of a reference stay as they are in URLs, too. */
const escape = (part: string): string =>
  encodeURIComponent(part).replaceAll('.', '%2E').replaceAll('~', '%7E');

/** An entry whose answer is referred to: what `submit` returns, an entry of `list`, or any object with its key. */
export interface Answering<TData = unknown> {
  readonly idempotencyKey: string;
  /** As of `submit`. */
  readonly delivered?: Promise<TData>;
  /** As of an entry. */
  readonly data?: TData | undefined;
}

/**
 * An answer that is not known yet, as a value for the variables of another entry: the whole answer of an entry, or a
 * field of it. The other entry is sent after the first has been delivered, with the real value in its place.
 *
 * The returned value is a text at first, whatever the type of the field is. It can stand for the id in the cache and in
 * the page until the real one is known, alone or within a longer text, such as a path. Needs `links: outboxLinks()`.
 *
 * @param entry - The result of `submit`, an entry, or an idempotency key.
 * @param path - The names of the fields that lead to the value. @default the whole answer
 * @throws TypeError in development, when that is no entry and no key.
 *
 * @example
 * ```ts
 * const list = outboxHandler({
 *   mutationFn: (list: { title: string; parent?: string }, { json }) =>
 *     json<{ id: string }>('/api/lists', { method: 'POST', json: list }),
 * });
 * const lists = createOutbox({ steady, handlers: { list }, links: outboxLinks() });
 * const food = lists.submit('list', { title: 'Food' });
 * lists.submit('list', { title: 'Fruit', parent: answerOf(food, 'id') });
 * ```
 */
export function answerOf<TData>(entry: Answering<TData>): TData;
export function answerOf<TData, K extends keyof TData & string>(
  entry: Answering<TData>,
  field: K,
): TData[K];
export function answerOf<TData, K extends keyof TData & string, L extends keyof TData[K] & string>(
  entry: Answering<TData>,
  field: K,
  inner: L,
): TData[K][L];
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- a key alone says nothing of the type
export function answerOf<TValue = string>(idempotencyKey: string, ...path: string[]): TValue;
export function answerOf(entry: Answering | string, ...path: string[]): unknown {
  const key = typeof entry === 'string' ? entry : entry.idempotencyKey;
  inDevelopment(() => {
    if (typeof key !== 'string' || !key)
      reject('answerOf', 'entry', entry, 'the result of outbox.submit, an entry, or its key');
    if (!path.every((name) => typeof name === 'string'))
      reject('answerOf', 'path', path, 'names of fields');
  });
  return prefix + [key, ...path].map(escape).join('.') + end;
}

/** The key of the entry that a text refers to, where it is nothing but the reference. */
export function keyOf(text: string): string | undefined {
  const [first] = text.match(pattern) ?? [];
  return first === text ? parse(text).key : undefined;
}

interface Reference {
  readonly key: string;
  readonly path: readonly string[];
}

function parse(reference: string): Reference {
  const [key = '', ...path] = reference.slice(prefix.length, -1).split('.').map(unescape);
  return { key, path };
}

function unescape(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

class MissingAnswer extends Error {
  override readonly name = 'MissingAnswer' as const;
}

function valueAt(data: unknown, { path }: Reference): unknown {
  const value = path.reduce<unknown>(
    (at, name) => (Object(at) as Readonly<Record<string, unknown>>)[name],
    data,
  );
  if (value !== undefined && value !== null) return value;
  throw new MissingAnswer(`The answer that this refers to has no '${path.join('.')}'.`);
}

function asText(value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number') return `${value}`;
  throw new MissingAnswer('The answer that a text refers to is neither a text nor a number.');
}

/** A text that is a reference becomes the value; in one that has some, the values stand as texts. */
function fillAll(text: string, answers: ReadonlyMap<string, unknown>): unknown {
  const known = (reference: string): { readonly value: unknown } | undefined => {
    const parsed = parse(reference);
    return answers.has(parsed.key)
      ? { value: valueAt(answers.get(parsed.key), parsed) }
      : undefined;
  };
  const [first] = text.match(pattern) ?? [];
  if (first === text) return (known(text) ?? { value: text }).value;
  return text.replaceAll(pattern, (reference) => {
    const found = known(reference);
    return found ? asText(found.value) : reference;
  });
}

/** A text of a scope, with the answer of this entry in it; unchanged where that cannot stand there. */
export function fillText(text: string, key: string, data: unknown): string {
  try {
    return asText(fillAll(text, new Map([[key, data]])));
  } catch {
    return text;
  }
}

/** Kinds that take what they are given one by one, beside plain objects and lists. */
const collections = ['Map', 'Set', 'FormData', 'URLSearchParams'];

interface Collection {
  readonly entries: () => Iterable<readonly [unknown, unknown]>;
  readonly append?: (name: unknown, part: unknown) => void;
  readonly set?: (name: unknown, part: unknown) => void;
  readonly add?: (part: unknown) => void;
}

/** A copy of a value, with what `act` returns in the place of each text. */
function mapTexts(
  value: unknown,
  act: (text: string) => unknown,
  seen: Map<unknown, unknown> = new Map(),
): unknown {
  if (typeof value === 'string') return act(value);
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  const isCollection = collections.includes(kind);
  if (!isCollection && kind !== 'Object' && kind !== 'Array') return value;
  const known = seen.get(value);
  if (known) return known;
  const from = value as Collection & { readonly constructor: new () => object };
  const copy = isCollection ? new from.constructor() : kind === 'Array' ? [] : {};
  seen.set(value, copy);
  const put: (to: object, name: unknown, part: unknown) => void = isCollection
    ? putIn
    : defineField;
  for (const [name, part] of isCollection ? from.entries() : Object.entries(from))
    put(copy, mapTexts(name, act, seen), mapTexts(part, act, seen));
  return copy;
}

function putIn(collection: object, name: unknown, part: unknown): void {
  const to = collection as Collection;
  if (to.append) to.append(name, part);
  else if (to.set) to.set(name, part);
  else to.add?.(name);
}

/** Defined, so that nothing that is called `__proto__` becomes one. */
function defineField(object: object, name: unknown, value: unknown): void {
  const own = { enumerable: true, configurable: true, writable: true };
  Object.defineProperty(object, String(name), { ...own, value });
}

export function keysIn(variables: unknown): readonly string[] {
  const keys = new Set<string>();
  mapTexts(variables, (text) => {
    for (const reference of text.match(pattern) ?? []) keys.add(parse(reference).key);
    return text;
  });
  return [...keys];
}

/**
 * The variables with the answers that are known, by the keys of their entries. The given ones stay as they are.
 *
 * @throws MissingAnswer where an answer has no such field.
 */
export function fill(variables: unknown, answers: ReadonlyMap<string, unknown>): unknown {
  return mapTexts(variables, (text) => fillAll(text, answers));
}
