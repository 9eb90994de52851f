import { reject } from '../../lib/input/check.ts';

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
 * What it returns is a text at first, whatever the type of the field is. It can stand for the id in the cache and in
 * the page until the real one is known, alone or within a longer text, such as a path. Needs `links: outboxLinks()`.
 *
 * @param entry - The result of `submit`, an entry, or an idempotency key.
 * @param path - The names of the fields that lead to the value. @default the whole answer
 * @throws TypeError in development, when that is no entry and no key.
 *
 * @example
 * ```ts
 * const created = outbox.submit('createTodo', { title: 'Milk' });
 * outbox.submit('renameTodo', { id: answerOf(created, 'id'), title: 'Oat milk' });
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
export function answerOf<TValue = string>(idempotencyKey: string, ...path: string[]): TValue;
export function answerOf(entry: Answering | string, ...path: string[]): unknown {
  const key = typeof entry === 'string' ? entry : entry.idempotencyKey;
  if (process.env.NODE_ENV !== 'production') {
    if (typeof key !== 'string' || !key)
      reject('answerOf', 'entry', entry, 'the result of outbox.submit, an entry, or its key');
    if (!path.every((name) => typeof name === 'string'))
      reject('answerOf', 'path', path, 'names of fields');
  }
  return prefix + [key, ...path].map(escape).join('.') + end;
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

/** The answer has no such field. */
export class MissingAnswer extends Error {
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
  if (typeof value === 'object' || typeof value === 'function')
    throw new MissingAnswer('The answer that a text refers to is none.');
  return String(value);
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

/** Calls `act` for each text in a value, and puts its result there. */
function mapTexts(
  value: unknown,
  act: (text: string) => unknown,
  seen: Map<unknown, unknown>,
): unknown {
  if (typeof value === 'string') return act(value);
  if (typeof value !== 'object' || value === null) return value;
  const known = seen.get(value);
  if (known) return known;
  const made = emptyLike(value);
  if (!made) return value;
  seen.set(value, made.copy);
  const map = (part: unknown): unknown => mapTexts(part, act, seen);
  for (const [name, part] of entriesOf(value)) made.put(map(name), map(part));
  return made.copy;
}

const entriesOf = (value: object): Iterable<readonly [unknown, unknown]> => {
  if (value instanceof Set) return [...value].map((part) => [undefined, part] as const);
  return Symbol.iterator in value && !Array.isArray(value)
    ? (value as Iterable<[unknown, unknown]>)
    : Object.entries(value);
};

interface Empty {
  readonly copy: object;
  readonly put: (name: unknown, part: unknown) => void;
}

/** Of the kinds in which there may be texts; undefined for all others, which stay as they are. */
function emptyLike(given: object): Empty | undefined {
  if (given instanceof Map) {
    const copy = new Map<unknown, unknown>();
    return { copy, put: (name, part) => copy.set(name, part) };
  }
  if (given instanceof Set) {
    const copy = new Set<unknown>();
    return { copy, put: (_, part) => copy.add(part) };
  }
  const kind = Object.prototype.toString.call(given).slice(8, -1);
  if (kind === 'FormData' || kind === 'URLSearchParams') {
    const copy = kind === 'FormData' ? new FormData() : new URLSearchParams();
    const put = (name: unknown, part: unknown): void =>
      copy.append(String(name), (part instanceof Blob ? part : String(part)) as string);
    return { copy, put };
  }
  if (!Array.isArray(given) && kind !== 'Object') return undefined;
  const copy: object = Array.isArray(given) ? [] : {};
  const descriptor = { enumerable: true, configurable: true, writable: true };
  // Defined, so that nothing that is called `__proto__` becomes one.
  const put = (name: unknown, value: unknown): void =>
    void Object.defineProperty(copy, String(name), { ...descriptor, value });
  return { copy, put };
}

/** The keys of the entries that variables refer to. */
export function keysIn(variables: unknown): readonly string[] {
  const keys = new Set<string>();
  mapTexts(
    variables,
    (text) => {
      for (const reference of text.match(pattern) ?? []) keys.add(parse(reference).key);
      return text;
    },
    new Map(),
  );
  return [...keys];
}

/**
 * The variables with the answers that are known, by the keys of their entries. The given ones stay as they are.
 *
 * @throws MissingAnswer where an answer has no such field.
 */
export function fill(variables: unknown, answers: ReadonlyMap<string, unknown>): unknown {
  return mapTexts(variables, (text) => fillAll(text, answers), new Map());
}
