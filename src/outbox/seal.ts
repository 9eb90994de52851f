import { reject } from '../policy/check-option.ts';

/** Makes what is on the disk unreadable there. Both may take their time; neither may change the value. */
export interface OutboxCipher {
  /** Gets variables or a result, as they are kept: plain values, Files and Blobs. What it returns is stored. */
  readonly encrypt: (value: unknown) => Promise<unknown>;
  /** Rejects where it cannot: the entry then is a dead letter until a later one can. */
  readonly decrypt: (sealed: unknown) => Promise<unknown>;
}

/** Browsers do not store a FormData. The name is long so that nobody's variables have it. */
const formTag = 'steadfetch.FormData';
const queryTag = 'steadfetch.URLSearchParams';

type Tagged = Readonly<Record<string, unknown>>;

/** Turns values into what can be stored, and back. */
export interface Seal {
  /**
   * Takes the variables as they are now, whatever becomes of them.
   *
   * @throws TypeError when they cannot be stored.
   */
  readonly close: (operation: string, value: unknown) => Promise<unknown>;
  readonly open: (sealed: unknown) => Promise<unknown>;
}

export function createSeal(cipher: OutboxCipher | undefined): Seal {
  return {
    close(operation, value) {
      const kept = copy(operation, value);
      return cipher ? cipher.encrypt(kept) : Promise.resolve(kept);
    },
    async open(sealed) {
      return unpack(cipher ? await cipher.decrypt(sealed) : sealed);
    },
  };
}

function copy(operation: string, value: unknown): unknown {
  const packed = pack(value);
  try {
    return structuredClone(packed);
  } catch {
    return reject(
      operation,
      'variables',
      value,
      'something that can be stored: JSON, FormData, File, Blob, Date, Map, Set, bytes; no function, Request or stream',
    );
  }
}

const nameOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);

function pack(value: unknown): unknown {
  const name = nameOf(value);
  if (name === 'FormData') return { [formTag]: [...(value as FormData)] };
  if (name === 'URLSearchParams') return { [queryTag]: String(value) };
  return value;
}

function unpack(value: unknown): unknown {
  if (nameOf(value) !== 'Object') return value;
  const { [formTag]: parts, [queryTag]: query } = value as Tagged;
  if (typeof query === 'string') return new URLSearchParams(query);
  if (!Array.isArray(parts)) return value;
  const form = new FormData();
  for (const [name, part] of parts as [string, string | Blob][]) {
    if (typeof part === 'string') form.append(name, part);
    else form.append(name, part);
  }
  return form;
}
