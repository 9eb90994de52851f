import { inDevelopment } from '../core/lib/development.ts';
import { classOf, reject } from '../core/lib/input/check.ts';
import type { Clock } from '../core/lib/clock.ts';
import { unsettled, withLimit } from '../core/lib/timer.ts';
import type { HandlerDefinition } from './handler.ts';
import type { DeadReason, Row } from './store/row.ts';

/**
 * Encrypts what is stored on the disk. Neither function may change its argument. A promise that has not settled within
 * 30 s counts as rejected.
 */
export interface OutboxCipher {
  /** Encrypts variables or a result: plain values, Files and Blobs. Its result is stored. */
  readonly encrypt: (value: unknown) => Promise<unknown>;
  /** Decrypts. If it rejects, the entry is a dead letter, until a later `decrypt` succeeds. */
  readonly decrypt: (sealed: unknown) => Promise<unknown>;
}

/** Marks a stored FormData, which browsers cannot store. The name is long, so that no variables have it by chance. */
const formTag = 'steadfetch.FormData';
const queryTag = 'steadfetch.URLSearchParams';
const sealTag = 'steadfetch.sealed';

type Tagged = Readonly<Record<string, unknown>>;

export interface Codec {
  /**
   * Copies the variables as they are now. Later changes by the app do not matter.
   *
   * @throws TypeError if they cannot be stored.
   */
  readonly encode: (operation: string, value: unknown) => Promise<unknown>;
  readonly decode: (sealed: unknown) => Promise<unknown>;
  /** Waits at most 30 s for a function of the app. */
  readonly wait: <T>(name: string, work: () => T) => Promise<Awaited<T>>;
}

export function createCodec(cipher: OutboxCipher | undefined, clock: Clock): Codec {
  const wait: Codec['wait'] = (name, work) =>
    withLimit({ clock }, work, () => unsettled(`${name} of the outbox`));
  const seal = async ({ encrypt }: OutboxCipher, value: unknown): Promise<Tagged> => ({
    [sealTag]: await wait('cipher.encrypt', () => encrypt(value)),
  });
  return {
    encode(operation, value) {
      const copied = copy(operation, value);
      return cipher ? seal(cipher, copied) : Promise.resolve(copied);
    },
    async decode(kept) {
      // The value may be from before the app had a cipher, or from a page with one.
      if (!isPlain(kept) || !(sealTag in kept)) return unpack(kept);
      if (!cipher) throw new Error('It is encrypted, and this outbox has no cipher.');
      return unpack(await wait('cipher.decrypt', () => cipher.decrypt(kept[sealTag])));
    },
    wait,
  };
}

function copy(operation: string, value: unknown): unknown {
  const packed = tryToCopy(value);
  if (packed) return packed.copy;
  // Without the content, which must not reach logs.
  const [path, part] =
    process.env.NODE_ENV === 'production' ? ['variables', value] : findCulprit('variables', value);
  return reject(
    operation,
    path,
    inDevelopment(() => classOf(part)) ?? nameOf(part),
    inDevelopment(
      () =>
        'something that can be stored: JSON, FormData, File, Blob, Date, Map, Set, bytes; no function, Request or stream, and no object of a class with toJSON',
    ),
  );
}

function tryToCopy(value: unknown): { readonly copy: unknown } | undefined {
  try {
    return { copy: structuredClone(pack(value, new Map())) };
  } catch {
    return undefined;
  }
}

function findCulprit(path: string, value: unknown): [path: string, value: unknown] {
  if (isPlain(value)) {
    for (const [key, part] of Object.entries(value))
      if (!tryToCopy(part)) return findCulprit(`${path}.${key}`, part);
  }
  return [path, value];
}

const nameOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

/** Whether a value is a plain object or an array, which may contain forms. */
const isPlain = (value: unknown): value is Record<string, unknown> =>
  Array.isArray(value) || nameOf(value) === 'Object';

function pack(value: unknown, packed: Map<unknown, object>): unknown {
  const name = nameOf(value);
  if (name === 'FormData') return { [formTag]: [...(value as FormData)] };
  if (name === 'URLSearchParams') return { [queryTag]: String(value) };
  if (!isPlain(value)) return value;
  // A copy would lose its toJSON.
  if (typeof value['toJSON'] === 'function') throw new TypeError();
  const known = packed.get(value);
  if (known) return known;
  // Without a prototype, so that a field named `__proto__` stays a field.
  const made: Record<string, unknown> = Array.isArray(value) ? [] : Object.create(null);
  packed.set(value, made);
  for (const [key, part] of Object.entries(value)) made[key] = pack(part, packed);
  return made;
}

/** Restores forms in place, because a value from the disk is a copy already. */
function unpack(value: unknown, seen: Set<unknown> = new Set()): unknown {
  if (!isPlain(value) || seen.has(value)) return value;
  seen.add(value);
  const { [formTag]: parts, [queryTag]: query } = value as Tagged;
  if (typeof query === 'string') return new URLSearchParams(query);
  if (!Array.isArray(parts)) {
    for (const [key, part] of Object.entries(value)) {
      const unpacked = unpack(part, seen);
      if (unpacked !== part) value[key] = unpacked;
    }
    return value;
  }
  const form = new FormData();
  for (const [name, part] of parts as [string, string | Blob][]) {
    if (typeof part === 'string') form.append(name, part);
    else form.append(name, part);
  }
  return form;
}

export interface Unread {
  readonly reason: DeadReason | 'too-new';
  readonly error?: unknown;
}

/**
 * The variables of an entry, as this version of the app's handler takes them. `fill` puts in the answers that they refer
 * to; without it, the references stay.
 */
export async function readVariables(
  entry: Row,
  definition: HandlerDefinition | undefined,
  codec: Codec,
  fill?: (variables: unknown) => Promise<unknown>,
): Promise<{ readonly variables: unknown } | Unread> {
  if (entry.isGone) return { reason: 'unreadable' };
  if (!definition) return { reason: 'handler-missing' };
  const { version, handler } = definition;
  if (entry.version > version) return { reason: 'too-new' };
  let variables: unknown;
  try {
    variables = await codec.decode(entry.variables);
    if (fill && entry.parents) variables = await fill(variables);
  } catch (error) {
    const isMissing = (error as Error).name === 'MissingAnswer';
    return { reason: isMissing ? 'answer-missing' : 'unreadable', error };
  }
  if (entry.version === version) return { variables };
  try {
    const migrate = (): unknown => handler.migrate?.(variables, entry.version);
    if (handler.migrate) return { variables: await codec.wait('migrate', migrate) };
    return { reason: 'not-migrated' };
  } catch (error) {
    return { reason: 'not-migrated', error };
  }
}
