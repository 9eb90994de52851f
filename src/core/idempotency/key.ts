import { reject } from '../lib/input/check.ts';
import { hash128, toHex, type Words } from '../lib/hash.ts';
import { type Clock, type KeySource, systemKeySource } from '../lib/clock.ts';
import { type Born, bornNow, Submission } from '../operation/parts/submission.ts';

/** The form in which an API takes a key. */
export interface KeyForm {
  /** `structured`: a String of RFC 9651, in quotes (draft-ietf-httpapi-idempotency-key-header). `raw`: the bare key. @default 'structured' */
  readonly format?: 'structured' | 'raw' | undefined;
  /** The longest key, in characters, without its quotes. @default Infinity */
  readonly maxLength?: number | undefined;
}

/**
 * Creates a key: a UUID of version 4 (RFC 9562 §5.4). Works in insecure contexts, too.
 *
 * @param source - The source of randomness. @default globalThis.crypto
 * @throws Error without strong randomness: of two submissions with the same key, one is lost.
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
  throw new Error('An idempotency key needs crypto.randomUUID or crypto.getRandomValues.');
}

/** Creates a submission that was never sent. @param clock - The steady clock of the page. */
export const createSubmission = (clock: Clock): Submission =>
  new Submission({ key: createIdempotencyKey(), ...bornNow(clock) });

/**
 * The key of a further request of the same submission: the same whenever key and name are the same, and
 * as long as a UUID. Its 128 bits are those of the key (or of its hash, if it is no UUID) XOR the hash of
 * the name, so two keys never become one under the same name.
 */
export function deriveKey(key: string, name: string): string {
  const own = isUuid(key) ? fromUuid(key) : hash128(key);
  const mask = hash128(name);
  return toUuid(own.map((word, index) => word ^ (mask[index] ?? 0)));
}

/**
 * The key as it is sent. A UUID longer than `maxLength` is sent without its dashes (32 characters).
 *
 * @throws TypeError when the key is empty, too long, or has characters that no header can carry
 *   (RFC 9651 §4.1.6).
 */
export function serializeKey(key: string, { format, maxLength = Infinity }: KeyForm): string {
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

/** Sets the version and the variant of RFC 9562 §5.4. */
function toUuid(words: Words): string {
  const [a = 0, b = 0, c = 0, d = 0] = words;
  const own = [a, (b & 0xffff0fff) | 0x4000, (c & 0x3fffffff) | 0x80000000, d];
  return toHex(own).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Clocks are corrected by up to so much in passing. */
const slackMs = 60_000;

/**
 * How old a key is, in milliseconds.
 *
 * A page that has made the key knows its age, also after the clock was set back: its clock never goes back. Of an
 * earlier page only the time on the wall is known: if that is still to come, the age is not, and this is less than none.
 *
 * @param clock - The steady clock of the page.
 */
export function ageOf({ createdAt, aheadMs = 0 }: Born, clock: Clock): number {
  const setBackMs = clock.setBackMs?.() ?? 0;
  // A page whose clock was set back by less than that has not made it.
  return clock.now() - createdAt - (aheadMs <= setBackMs ? aheadMs : 0);
}

/** Why its API may have forgotten a key; undefined while it remembers it. */
export function whyForgotten(
  born: Born,
  lifetimeMs: number,
  clock: Clock,
): 'expired' | 'age-unknown' | undefined {
  if (lifetimeMs === Infinity) return undefined;
  const ageMs = ageOf(born, clock);
  if (ageMs < -slackMs) return 'age-unknown';
  return ageMs > lifetimeMs ? 'expired' : undefined;
}
