import { isFunction, rejectValue, requireWhole } from '../core/lib/input/check.ts';
import { systemClock } from '../core/lib/clock.ts';
import type { IdempotencyStore } from './stores/store.ts';

/** Options of `idempotent`. */
export interface IdempotentOptions<Tx> {
  /** Where keys and answers are kept. */
  readonly store: IdempotencyStore<Tx>;
  /**
   * How long a key is kept, in milliseconds from its first request. Publish it: after this time the same
   * key runs again. @default 86400000
   */
  readonly lifetimeMs?: number | undefined;
  /**
   * Identifies the payload: a request with the same key and another fingerprint is answered 422. Receives a
   * copy of the request. @default SHA-256 of method, path, query and the bytes of the body
   */
  readonly fingerprint?: ((request: Request) => string | Promise<string>) | undefined;
  /**
   * The owner of the key: a lasting id of the user, such as the subject of the verified token. Without a
   * scope, a client that guesses a key and its payload gets the answer. Never use the token itself: it may be
   * renewed between two attempts, which would then create two orders. Receives a copy of the request. A
   * request whose scope is a credential, or not a string, is rejected with a TypeError.
   *
   * @default one scope for all
   */
  readonly scope?: ((request: Request) => string | Promise<string>) | undefined;
  /**
   * Whether an answer is final. A final answer is stored, together with the handler's writes. Otherwise
   * everything is rolled back, and the next attempt runs again. Receives a copy of the answer.
   * @default 200 to 499, except 401, 408, 425 and 429
   */
  readonly isFinal?: ((response: Response) => boolean | Promise<boolean>) | undefined;
  /**
   * How long a handler may take, in milliseconds from the claim of its key. After that the request fails with
   * a `LeaseOverError`, the handler's writes with `tx` are rolled back, and the key is free. The claim of a
   * process that died ends after the same time. @default 30000
   */
  readonly leaseMs?: number | undefined;
  /**
   * How long the store may take for one step, in milliseconds: a claim, the start of a transaction, or its
   * commit. After that the request is answered 503, with Retry-After. @default 5000
   */
  readonly storeTimeoutMs?: number | undefined;
  /** Receives the store's error when a request is answered 503 for it. @default a warning in the console */
  readonly onStoreError?: ((error: unknown) => void) | undefined;
  /** The Retry-After of a 409 or 503, in whole seconds. @default 1 */
  readonly retryAfterSeconds?: number | undefined;
  /** The name of the header. @default 'Idempotency-Key' */
  readonly header?: string | undefined;
  /** Whether a key without quotes is accepted, too: `8e03978e` for `"8e03978e"`. @default false */
  readonly acceptRaw?: boolean | undefined;
  /** The longest key, in characters. @default 255 */
  readonly maxKeyLength?: number | undefined;
  /** The longest body, in bytes. The body is read whole before the handler runs. @default 1048576 */
  readonly maxBodyBytes?: number | undefined;
  /** The URL of a page about this API's keys: the `type` of every problem, and its `Link`. @default none */
  readonly documentationUrl?: string | undefined;
  /**
   * The current time, in epoch milliseconds; for tests. Stores with a clock of their own do not use it.
   * @default the time of this machine
   */
  readonly now?: (() => number) | undefined;
}

/** Every option with its value, except those without a default. */
export type Settings<Tx> = {
  readonly [Name in Exclude<keyof IdempotentOptions<Tx>, Undefaulted>]-?: NonNullable<
    IdempotentOptions<Tx>[Name]
  >;
} & Pick<IdempotentOptions<Tx>, Undefaulted>;
type Undefaulted = 'fingerprint' | 'scope' | 'documentationUrl';

/** Whether a status asks the client to repeat the request. Its answer must not be replayed. */
const isAskingAgain = (status: number): boolean =>
  status === 401 || status === 408 || status === 425 || status === 429;

const isFinal = ({ status }: Response): boolean =>
  status >= 200 && status < 500 && !isAskingAgain(status);

const defaults = {
  lifetimeMs: 86_400_000,
  isFinal,
  leaseMs: 30_000,
  storeTimeoutMs: 5000,
  onStoreError: (error: unknown) =>
    console.warn('[steadfetch] idempotent: the store failed.', error),
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

/** The options that are numbers, with the least value of each. */
const numbers = {
  lifetimeMs: 1,
  leaseMs: 1,
  storeTimeoutMs: 1,
  retryAfterSeconds: 0,
  maxKeyLength: 1,
  maxBodyBytes: 0,
} as const;

/** The other options: what is right, and what is allowed in words. */
const rules: Readonly<
  Partial<Record<keyof Settings<unknown>, readonly [(value: never) => boolean, string]>>
> = {
  store: [
    (store: unknown) => {
      const { claim, run } = Object(store) as Readonly<Record<string, unknown>>;
      return isFunction(claim) && isFunction(run);
    },
    'an IdempotencyStore, such as memoryStore()',
  ],
  fingerprint: [isFunction, 'a function'],
  scope: [isFunction, 'a function'],
  isFinal: [isFunction, 'a function'],
  onStoreError: [isFunction, 'a function'],
  now: [isFunction, 'a function'],
  header: [(header: string) => /^[\w-]+$/.test(header), 'the name of a header'],
  acceptRaw: [(value: unknown) => typeof value === 'boolean', 'true or false'],
  documentationUrl: [(url: string) => /^[!#-;=?-~]+$/.test(url), 'a URL'],
};

/** @throws TypeError unless the first argument is a function. */
export function requireHandler(operation: string, handler: unknown): void {
  if (!isFunction(handler)) rejectValue(operation, 'its first argument', handler, 'a function');
}

/** @throws TypeError that names the option, its value and the allowed range. */
export function checkOptions<Tx>(
  options: IdempotentOptions<Tx>,
  operation: string = 'idempotent',
): Settings<Tx> {
  if (Object(options) !== options)
    rejectValue(operation, 'its second argument', options, 'an object of options, with a store');
  for (const [name, value] of Object.entries(options))
    if (!names.has(name))
      rejectValue(operation, name, value, `left out: the options are ${[...names].join(', ')}`);
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const settings = { ...defaults, ...Object.fromEntries(given) } as Settings<Tx>;
  for (const [name, [isRight, allowed]] of Object.entries(rules)) {
    const value = settings[name as keyof typeof settings];
    if ((name === 'store' || value !== undefined) && !isRight(value as never))
      rejectValue(operation, name, value, allowed);
  }
  for (const [name, least] of Object.entries(numbers))
    requireFrom(operation, name, settings[name as keyof typeof numbers], least);
  const { leaseMs, lifetimeMs } = settings;
  if (leaseMs > lifetimeMs)
    rejectValue(operation, 'leaseMs', leaseMs, `at most lifetimeMs, ${lifetimeMs}`);
  return settings;
}

/** Dates go up to 8.64e15, so this can be added to the current time. */
const greatest = 1e12;

/** @throws TypeError unless the value is a whole number from the least to 10^12. */
export function requireFrom(operation: string, option: string, value: number, least: number): void {
  requireWhole(operation, option, value, { min: least, max: greatest });
}
