import { inDevelopment } from '../core/lib/development.ts';
import { reject } from '../core/lib/input/check.ts';
import type { Clock } from '../core/lib/clock.ts';
import { unsettled, withLimit } from '../core/lib/timer.ts';
import type { HandlerDefinition } from './handler.ts';
import type { DeadReason, Row } from './store/row.ts';

/**
 * Makes what is on the disk unreadable there. Neither may change the value. What has not settled within 30 s
 * counts as rejected.
 */
export interface OutboxCipher {
  /** Gets variables or a result, as they are kept: plain values, Files and Blobs. What it returns is stored. */
  readonly encrypt: (value: unknown) => Promise<unknown>;
  /** Rejects where it cannot: the entry then is a dead letter until a later one can. */
  readonly decrypt: (sealed: unknown) => Promise<unknown>;
}

/** Browsers do not store a FormData. The name is long so that no variables have it by chance. */
const formTag = 'steadfetch.FormData';
const queryTag = 'steadfetch.URLSearchParams';
const sealTag = 'steadfetch.sealed';

type Tagged = Readonly<Record<string, unknown>>;

export interface Codec {
  /**
   * Takes the variables as they are now, whatever becomes of them.
   *
   * @throws TypeError when they cannot be stored.
   */
  readonly encode: (operation: string, value: unknown) => Promise<unknown>;
  readonly decode: (sealed: unknown) => Promise<unknown>;
  /** Waits for a function of the app, 30 s at most. */
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
      // It may have been kept before the app had a cipher, or by a page with one.
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
  // Without its content: that is not for a log.
  const [path, part] =
    process.env.NODE_ENV === 'production' ? ['variables', value] : findCulprit('variables', value);
  return reject(
    operation,
    path,
    nameOf(part),
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

/** Objects and arrays without a class, in which there may be forms. */
const isPlain = (value: unknown): value is Record<string, unknown> =>
  Array.isArray(value) || nameOf(value) === 'Object';

function pack(value: unknown, packed: Map<unknown, object>): unknown {
  const name = nameOf(value);
  if (name === 'FormData') return { [formTag]: [...(value as FormData)] };
  if (name === 'URLSearchParams') return { [queryTag]: String(value) };
  if (!isPlain(value)) return value;
  // Its toJSON would be lost with its class.
  if (typeof value['toJSON'] === 'function') throw new TypeError();
  const known = packed.get(value);
  if (known) return known;
  // Without a prototype, so that nothing that is called `__proto__` becomes one.
  const made: Record<string, unknown> = Array.isArray(value) ? [] : Object.create(null);
  packed.set(value, made);
  for (const [key, part] of Object.entries(value)) made[key] = pack(part, packed);
  return made;
}

/** In place: what comes from the disk is a copy already. */
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
 * The variables of an entry, as its handler takes them in this version of the app. `fill` puts the answers into them
 * that they refer to: where it is left out, they stay references.
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
