import { inDevelopment } from '../lib/development.ts';
import { checkNames, reject, reportOnce } from '../lib/input/check.ts';
import type { Elsewhere } from '../lib/input/nearest.ts';
import { maxTimerMs } from '../lib/clock.ts';
import type { BackoffType } from './backoff.ts';
import type { OperationFacts } from './operation.ts';
import type { Failure } from './outcome.ts';

/**
 * The time limits of one attempt, in milliseconds: for the headers, and then for each silence while the body
 * is read. A number sets both. A body that keeps flowing is never cut off, however long it takes. `Infinity`
 * means no limit.
 */
export type Timeout = number | { readonly headersMs: number; readonly bodyIdleMs: number };

/**
 * Overrides the status table: `true` retries, `false` stops, `undefined` leaves the decision to the
 * table. It never overrides `maxRetries`, the deadline, a Retry-After beyond `maxRetryAfterMs`, the
 * caller's abort, or the rule about idempotency keys. Synchronous; a promise counts as undefined.
 */
export type ShouldRetry = (failure: Failure, operation: OperationFacts) => boolean | undefined;

/** How an operation behaves while its origin is down: wait, or fail at once. */
export type WhenDown = 'pause' | 'fail';

/** How an outage's end affects a query that failed during it: refetch it, or leave it. */
export type WhenBack = 'refetch' | 'leave';

/** The order of requests after a pause. The names are those of the Prioritized Task Scheduling API. */
export type Priority = 'user-blocking' | 'user-visible' | 'background';

/** The names of the {@link presets}. */
export type PresetName = 'interactive' | 'background' | 'critical';

/** How an operation reacts to failures. `undefined` means the default. */
export interface PolicyOptions {
  /** The values that the other options start from. @default 'interactive' */
  readonly preset?: PresetName | undefined;
  /** The shape of the jitter. @default 'full' */
  readonly backoff?: BackoffType | undefined;
  /** The first step of the backoff, in milliseconds. @default 1000 */
  readonly baseMs?: number | undefined;
  /**
   * The first backoff step after an isolated failure (no answer, 502, 503 or 504 within a second, from an
   * origin that was healthy), if shorter than `baseMs`. Set it to `Infinity` to always use `baseMs`.
   * @default 50
   */
  readonly fastRetryMs?: number | undefined;
  /** The factor from one backoff step to the next. @default 2 */
  readonly factor?: number | undefined;
  /** The longest backoff, in milliseconds. Retry-After may ask for more. @default 30000 */
  readonly capMs?: number | undefined;
  /** Retries after the first attempt. @default 3 */
  readonly maxRetries?: number | undefined;
  /**
   * No attempt starts later than this after the operation's start or last progress, in milliseconds. Unless it is
   * below the default, a query has the three retries of React Query all the same. @default 90000
   */
  readonly deadlineMs?: number | undefined;
  /**
   * How long one attempt waits for its headers, and then for each next part of its body, in milliseconds. The
   * wait for the headers is doubled after the first and the second attempt of the operation that was too late, and
   * then as at first; only that of an upload stays long. A number also gives the body longer after such
   * attempts. By default it is 60000 for a write that may not be sent twice.
   * @default 10000
   */
  readonly timeout?: Timeout | undefined;
  /**
   * The slowest upload to allow for, in bytes per second: the time limit of an attempt grows by the size of
   * its body divided by this. `Infinity` adds nothing. @default 32000
   */
  readonly uploadBytesPerSecond?: number | undefined;
  /** The longest Retry-After to wait for, in milliseconds. A longer one stops the operation. @default 60000 */
  readonly maxRetryAfterMs?: number | undefined;
  /**
   * How to behave while the origin is down or rate-limited: wait before the attempt is sent, or fail at
   * once. @default 'pause'
   */
  readonly whenDown?: WhenDown | undefined;
  /**
   * How to treat a query that failed while its endpoint was down and is still on screen when the outage
   * ends: refetch it once, or leave it. @default 'refetch'
   */
  readonly whenBack?: WhenBack | undefined;
  /**
   * The longest pause, in milliseconds, since the data was last requested. It does not count against
   * `deadlineMs`. A query that has data, or no component, is paused for no longer than React Query would
   * retry it. A rate limit that lasts longer ends the pause as soon as that is known. @default 60000
   */
  readonly maxPauseMs?: number | undefined;
  /**
   * The order of requests after an outage, in the terms of the Prioritized Task Scheduling API. `user-blocking`:
   * a user waits, whether or not the page is visible. `user-visible`: a user waits while the page is visible.
   * `background`: no user waits. @default 'user-visible'
   */
  readonly priority?: Priority | undefined;
  /** Overrides the status table. @default none */
  readonly shouldRetry?: ShouldRetry | undefined;
}

/** A policy with a value for every option. */
export interface Policy {
  readonly backoff: BackoffType;
  readonly baseMs: number;
  readonly fastRetryMs: number;
  readonly factor: number;
  readonly capMs: number;
  readonly maxRetries: number;
  readonly deadlineMs: number;
  readonly timeout: Timeout;
  readonly uploadBytesPerSecond: number;
  readonly maxRetryAfterMs: number;
  readonly whenDown: WhenDown;
  readonly whenBack: WhenBack;
  readonly maxPauseMs: number;
  readonly priority: Priority;
  readonly shouldRetry?: ShouldRetry | undefined;
}

/** The part of the default preset that needs nothing but `retry` and `retryDelay`. */
export const retryDefaults: Pick<
  Policy,
  'baseMs' | 'factor' | 'capMs' | 'maxRetries' | 'deadlineMs' | 'maxRetryAfterMs'
> = {
  baseMs: 1000,
  factor: 2,
  capMs: 30_000,
  maxRetries: 3,
  deadlineMs: 90_000,
  maxRetryAfterMs: 60_000,
};

/** The default of `timeout`. */
export const defaultTimeoutMs = 10_000;

const definePreset = (own?: Partial<Policy>): Policy =>
  Object.freeze({
    ...retryDefaults,
    backoff: 'full',
    fastRetryMs: 50,
    timeout: defaultTimeoutMs,
    uploadBytesPerSecond: 32_000,
    whenDown: 'pause',
    whenBack: 'refetch',
    maxPauseMs: 60_000,
    priority: 'user-visible',
    ...own,
  } satisfies Policy);

/**
 * The presets, frozen:
 *
 * - `interactive`: a user waits for the result. The default.
 * - `background`: no user waits. Backoff starts at 20 to 40 s, with more retries.
 * - `critical`: a submission that must arrive. Short waits and many retries: on a network where
 *   45 % of the attempts fail, 8 retries within 60 s do not reach 99.9 %.
 *
 * @example
 * ```ts
 * presets.interactive.maxRetries; // 3
 * ```
 */
export const presets: Readonly<Record<PresetName, Policy>> = /* @__PURE__ */ Object.freeze({
  interactive: /* @__PURE__ */ definePreset(),
  background: /* @__PURE__ */ definePreset({
    backoff: 'equal',
    baseMs: 40_000,
    fastRetryMs: 40_000,
    capMs: 60_000,
    maxRetries: 8,
    deadlineMs: 600_000,
    timeout: 30_000,
    maxRetryAfterMs: 300_000,
    maxPauseMs: 300_000,
    priority: 'background',
  }),
  critical: /* @__PURE__ */ definePreset({
    capMs: 10_000,
    maxRetries: 10,
    deadlineMs: 120_000,
    priority: 'user-blocking',
  }),
});

/**
 * Merges options into a policy, layer by layer. A `preset` replaces every value of the layers below except
 * `shouldRetry`. `undefined` keeps the value below.
 */
export function layer(base: Policy, ...layers: readonly (PolicyOptions | undefined)[]): Policy {
  let policy = base;
  for (const options of layers) {
    // Most calls set no option.
    if (!options || Object.keys(options).length === 0) continue;
    const set = Object.entries(options).filter(([name, value]) => isUsable(name, value));
    const { preset, ...own }: Partial<Policy> & Pick<PolicyOptions, 'preset'> =
      Object.fromEntries(set);
    policy = { ...policy, ...(preset && presets[preset]), ...own };
  }
  return policy;
}

const choices: Readonly<Record<string, readonly string[]>> = {
  // Not the keys of `presets`, which the smallest bundle leaves out.
  preset: ['interactive', 'background', 'critical'],
  backoff: ['full', 'equal', 'decorrelated', 'proportional', 'none'],
  whenDown: ['pause', 'fail'],
  whenBack: ['refetch', 'leave'],
  priority: ['user-blocking', 'user-visible', 'background'],
};

/** In production a wrong value counts as not set, so no delay is endless or NaN. */
function isUsable(name: string, value: unknown): boolean {
  if (value === undefined || process.env.NODE_ENV !== 'production') return value !== undefined;
  const isTimeout = name === 'timeout';
  const isNumber = (given: unknown): boolean =>
    typeof given === 'number' &&
    given >= +/^(timeout|upload)/.test(name) &&
    (given < Infinity || !/^(base|factor|cap)/.test(name));
  const { headersMs, bodyIdleMs } = Object(value) as Record<string, unknown>;
  const isRight =
    typeof presets.interactive[name as keyof Policy] === 'number'
      ? isNumber(value) || (isTimeout && isNumber(headersMs) && isNumber(bodyIdleMs))
      : name === 'shouldRetry'
        ? typeof value === 'function'
        : choices[name]?.includes?.(value as string);
  return isRight || reportOnce(name);
}

/**
 * Checks options and merges them into a policy.
 *
 * @throws TypeError that names the operation, the option, its value and the allowed range.
 */
export function definePolicy(
  operation: string,
  base: Policy,
  options: PolicyOptions | undefined,
): Policy {
  inDevelopment(
    () => options !== undefined && checkPolicy(operation, options, layer(base, options)),
  );
  return layer(base, options);
}

function checkPolicy(operation: string, options: PolicyOptions, merged: Policy): void {
  const rules = rulesOf();
  checkNames(operation, options, [...rules.keys()], synonyms);
  for (const [name, value] of Object.entries(options))
    checkOption(operation, name, value, rules.get(name) ?? []);
  const { baseMs, capMs } = merged;
  if (capMs < baseMs) reject(operation, 'capMs', capMs, `at least baseMs, ${baseMs}`);
}

/** The names that other libraries give to an option. Development only. */
const synonyms: Elsewhere = {
  retry: 'maxRetries',
  attempts: 'maxRetries',
  maxAttempts: 'maxRetries',
  retryDelay: 'baseMs',
  minTimeout: 'baseMs',
  maxDelay: 'capMs',
  maxTimeout: 'capMs',
  jitter: 'backoff',
  retryOn: 'shouldRetry',
  retryIf: 'shouldRetry',
};

/** Where to put a policy option that was set beside `policy`. Development only. */
export function inPolicy(hasSynonyms: boolean): Elsewhere {
  const names = [...rulesOf().keys()].map((name) => [name, name]);
  const known = hasSynonyms ? [...Object.entries(synonyms), ...names] : names;
  return Object.fromEntries(known.map(([name, option]) => [name, `policy: { ${option} }`]));
}

/** The allowed values of each option: a list of names, a range of numbers or, if empty, a function. */
const rulesOf = (): ReadonlyMap<string, readonly unknown[]> =>
  new Map<string, readonly unknown[]>([
    ...Object.entries(choices),
    ['baseMs', [0, maxTimerMs]],
    ['fastRetryMs', [0, Infinity]],
    ['factor', [1, 100]],
    ['capMs', [0, maxTimerMs]],
    ['maxRetries', [0, Infinity]],
    ['deadlineMs', [0, Infinity]],
    ['timeout', [1, Infinity]],
    ['uploadBytesPerSecond', [1, Infinity]],
    // Jitter adds up to a fifth, and the sum must still fit a timer.
    ['maxRetryAfterMs', [0, Math.floor(maxTimerMs / 1.2)]],
    ['maxPauseMs', [0, Infinity]],
    ['shouldRetry', []],
  ]);

function checkOption(
  operation: string,
  name: string,
  value: unknown,
  rule: readonly unknown[],
): void {
  if (value === undefined) return;
  if (name === 'shouldRetry') {
    if (typeof value !== 'function') reject(operation, name, value, 'a function');
  } else if (typeof rule[0] === 'string') {
    if (!rule.includes(value)) reject(operation, name, value, `one of ${rule.join(', ')}`);
  } else checkRange(operation, name, value, rule as readonly [number, number]);
}

function checkRange(
  operation: string,
  name: string,
  value: unknown,
  [least, greatest]: readonly [number, number],
): void {
  const isIn = (limit: unknown): boolean =>
    typeof limit === 'number' && limit >= least && limit <= greatest;
  if (isIn(value)) return;
  const range = `a number from ${least} to ${greatest}`;
  if (name !== 'timeout') return reject(operation, name, value, range);
  const { headersMs, bodyIdleMs } = Object(value) as Record<string, unknown>;
  if (isIn(headersMs) && isIn(bodyIdleMs)) return;
  reject(operation, name, value, `${range}, or { headersMs, bodyIdleMs } of such numbers`);
}
