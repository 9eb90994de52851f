import { reject } from '../lib/check.ts';
import { systemClock } from '../lib/clock.ts';
import type { IdempotencyStore } from './store.ts';

/** How a key is honoured. */
export interface IdempotentOptions<Tx> {
  /** Where keys and answers are kept. */
  readonly store: IdempotencyStore<Tx>;
  /**
   * How long a key is kept, in milliseconds from its first request: publish it, because after it
   * the same key runs again. @default 86400000
   */
  readonly lifetimeMs?: number | undefined;
  /**
   * What two requests with one key must have in common; everything else is a 422. It gets a copy of
   * the request. @default SHA-256 of method, path, query and the bytes of the body
   */
  readonly fingerprint?: ((request: Request) => string | Promise<string>) | undefined;
  /**
   * Whose keys they are: an id of the user that stays the same, such as the subject of the verified
   * token. Without it, who guesses a key and its payload reads the answer. Never the token itself: it
   * may be renewed between two attempts, which would then be two orders. It gets a copy of the request.
   *
   * @throws TypeError at the request, where it gives a credential, or no text.
   * @default one scope for all
   */
  readonly scope?: ((request: Request) => string | Promise<string>) | undefined;
  /**
   * Whether an answer is the last word: then it is kept, together with what the handler wrote.
   * Otherwise all is rolled back, and the next attempt runs again.
   * @default from 200 to 499, but not 401, 408, 425 and 429
   */
  readonly isFinal?: ((response: Response) => boolean) | undefined;
  /**
   * How long a handler may take, in milliseconds: then it is given up with an Error, what it wrote
   * with `tx` is rolled back, and its key is free. The claim of a process that died ends as late.
   * @default 30000
   */
  readonly leaseMs?: number | undefined;
  /** What a request is told to wait while the first one with its key runs, in whole seconds. @default 1 */
  readonly retryAfterSeconds?: number | undefined;
  /** The name of the header. @default 'Idempotency-Key' */
  readonly header?: string | undefined;
  /** Takes a key without quotes, too: `8e03978e` for `"8e03978e"`. @default false */
  readonly acceptRaw?: boolean | undefined;
  /** The longest key, in characters. @default 255 */
  readonly maxKeyLength?: number | undefined;
  /** The longest body, in bytes: it is read whole, before the handler runs. @default 1048576 */
  readonly maxBodyBytes?: number | undefined;
  /** A page about how keys work here: the `type` of every problem, and its `Link`. @default none */
  readonly documentationUrl?: string | undefined;
  /** The time, in epoch milliseconds, for tests. @default the time of this machine */
  readonly now?: (() => number) | undefined;
}

/** Every option decided, but for those without a default. */
export type Settings<Tx> = {
  readonly [Name in Exclude<keyof IdempotentOptions<Tx>, Undefaulted>]-?: NonNullable<
    IdempotentOptions<Tx>[Name]
  >;
} & Pick<IdempotentOptions<Tx>, Undefaulted>;
type Undefaulted = 'fingerprint' | 'scope' | 'documentationUrl';

/** Answers that ask for the same request again: repeated for ever, they would be no answer. */
const isAskingAgain = (status: number): boolean =>
  status === 401 || status === 408 || status === 425 || status === 429;

const isFinal = ({ status }: Response): boolean =>
  status >= 200 && status < 500 && !isAskingAgain(status);

const defaults = {
  lifetimeMs: 86_400_000,
  isFinal,
  leaseMs: 30_000,
  retryAfterSeconds: 1,
  header: 'Idempotency-Key',
  acceptRaw: false,
  maxKeyLength: 255,
  maxBodyBytes: 1_048_576,
  now: () => systemClock.now(),
} as const satisfies Partial<Settings<unknown>>;

const names: ReadonlySet<string> = new Set([
  ...Object.keys(defaults),
  'store',
  'fingerprint',
  'scope',
  'documentationUrl',
]);

/** @throws TypeError that names the option, its value and the allowed range. */
export function checkOptions<Tx>(options: IdempotentOptions<Tx>): Settings<Tx> {
  for (const [name, value] of Object.entries(options)) {
    if (!names.has(name)) {
      reject('idempotent', name, value, `left out: the options are ${[...names].join(', ')}`);
    }
  }
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const settings = { ...defaults, ...Object.fromEntries(given) } as Settings<Tx>;
  const { store, header, lifetimeMs, leaseMs, documentationUrl } = settings;
  if (typeof store?.claim !== 'function' || typeof store.run !== 'function') {
    reject('idempotent', 'store', store, 'an IdempotencyStore, such as memoryStore()');
  }
  for (const name of ['fingerprint', 'scope', 'isFinal', 'now'] as const) {
    const value = settings[name];
    if (value !== undefined && typeof value !== 'function') {
      reject('idempotent', name, value, 'a function');
    }
  }
  if (!/^[\w-]+$/.test(header)) reject('idempotent', 'header', header, 'the name of a header');
  if (typeof settings.acceptRaw !== 'boolean') {
    reject('idempotent', 'acceptRaw', settings.acceptRaw, 'true or false');
  }
  if (documentationUrl !== undefined && !/^[!#-;=?-~]+$/.test(documentationUrl)) {
    reject('idempotent', 'documentationUrl', documentationUrl, 'a URL');
  }
  requireWhole('idempotent', 'lifetimeMs', lifetimeMs, 1);
  requireWhole('idempotent', 'leaseMs', leaseMs, 1);
  if (leaseMs > lifetimeMs) {
    reject('idempotent', 'leaseMs', leaseMs, `at most lifetimeMs, ${lifetimeMs}`);
  }
  requireWhole('idempotent', 'retryAfterSeconds', settings.retryAfterSeconds, 0);
  requireWhole('idempotent', 'maxKeyLength', settings.maxKeyLength, 1);
  requireWhole('idempotent', 'maxBodyBytes', settings.maxBodyBytes, 0);
  return settings;
}

/** Dates are whole numbers up to 8.64e15; a number below that can be added to a time of today. */
const greatest = 1e12;

/** Throws a TypeError unless the value is a whole number from the least to 10^12. */
export function requireWhole(
  operation: string,
  option: string,
  value: number,
  least: number,
): void {
  if (Number.isInteger(value) && value >= least && value <= greatest) return;
  reject(operation, option, value, `a whole number from ${least} to ${greatest}`);
}
