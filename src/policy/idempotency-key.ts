import { reject } from './check-option.ts';
import { type KeySource, systemKeySource } from './clock.ts';

/** How an API takes a key. */
export interface KeyForm {
  /** A String of RFC 9651, in quotes, as in draft-ietf-httpapi-idempotency-key-header, or the bare key. @default structured */
  readonly format?: 'structured' | 'raw' | undefined;
  /** The most characters that a key may have, without its quotes. @default Infinity */
  readonly maxLength?: number | undefined;
}

type Words = readonly number[];

/**
 * A new key: a UUID of version 4 (RFC 9562 §5.4), also where a page is not secure.
 *
 * @throws Error where there is no strong randomness: a key that somebody else has too loses an order.
 *
 * @example
 * ```ts
 * createIdempotencyKey(); // '8e03978e-40d5-43dd-bc93-6894a57f9324'
 * ```
 */
export function createIdempotencyKey(source: KeySource | undefined = systemKeySource()): string {
  if (source?.randomUUID) return source.randomUUID();
  if (source?.getRandomValues) {
    const words = new Uint32Array(4);
    source.getRandomValues(words);
    return toUuid([...words]);
  }
  throw new Error(
    'An idempotency key needs crypto.randomUUID or crypto.getRandomValues, and this environment has neither.',
  );
}

/**
 * The key of one more request under the same intent: always the same for a key and a name, and as
 * long as a UUID. Its 128 bits are those of the key (of its hash, where it is no UUID) XOR the hash
 * of the name: so one name never makes one key of two.
 */
export function deriveKey(key: string, name: string): string {
  const own = isUuid(key) ? fromUuid(key) : hash128(key);
  const mask = hash128(name);
  return toUuid(own.map((word, index) => word ^ (mask[index] ?? 0)));
}

/**
 * The key as it goes on the wire. A UUID that is too long goes without its dashes (32 characters).
 *
 * @throws TypeError when it is empty, too long, or cannot be written (RFC 9651 §4.1.6).
 */
export function serializeKey(
  key: string,
  { format = 'structured', maxLength = Infinity }: KeyForm,
): string {
  const fitting = key.length > maxLength && isUuid(key) ? key.replaceAll('-', '') : key;
  const isWritable =
    format === 'raw' ? /^[!-~](?:[ -~]*[!-~])?$/.test(fitting) : /^[ -~]+$/.test(fitting);
  if (!isWritable || fitting.length > maxLength) {
    const most = maxLength < Infinity ? `at most ${maxLength} of the ` : '';
    const ends = format === 'raw' ? ', with no space at its ends' : '';
    reject('steady.fetch', 'idempotencyKey', key, `${most}ASCII characters from space to ~${ends}`);
  }
  return format === 'raw' ? fitting : `"${fitting.replaceAll(/["\\]/g, '\\$&')}"`;
}

function isUuid(key: string): boolean {
  return /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(key);
}

function fromUuid(uuid: string): Words {
  const hex = uuid.replaceAll('-', '');
  return [0, 8, 16, 24].map((at) => Number.parseInt(hex.slice(at, at + 8), 16));
}

/** With the version and the variant that RFC 9562 §5.4 wants. */
function toUuid(words: Words): string {
  const [a = 0, b = 0, c = 0, d = 0] = words;
  return [a, (b & 0xffff0fff) | 0x4000, (c & 0x3fffffff) | 0x80000000, d]
    .map((word) => (word >>> 0).toString(16).padStart(8, '0'))
    .join('')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * 128 bits of a text, to tell names apart and no more: nothing secret rests on it, the chance is in
 * the key. Every character, and then eight more rounds, go through all four words, and no step
 * loses a bit (odd factors, and shifts that can be undone).
 */
function hash128(text: string): Words {
  let [a, b, c, d] = [1_779_033_703, 3_144_134_277, 1_013_904_242, 2_773_480_762];
  const mix = (word: number, factor: number): number => {
    const product = Math.imul(word, factor);
    return product ^ (product >>> 15);
  };
  for (let index = 0; index < text.length + 8; index++) {
    // NaN after the end, and then 0.
    const code = text.charCodeAt(index) | 0;
    a = b ^ mix(a ^ code, 597_399_067);
    b = c ^ mix(b ^ code, 2_869_860_233);
    c = d ^ mix(c ^ code, 951_274_213);
    d = a ^ mix(d ^ code, 2_716_044_179);
  }
  return [a, b, c, d];
}
