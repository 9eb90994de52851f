import type { BackoffType } from './backoff.ts';
import type { Failure } from './outcome.ts';
import type { Operation } from './operation.ts';

/**
 * The time limit of one attempt, in milliseconds: one number for headers and body together, or,
 * for streams, one for the headers and one for the longest silence within the body. `Infinity`
 * means no limit.
 */
export type Timeout = number | { readonly headersMs: number; readonly bodyIdleMs: number };

/**
 * A say in the status table: `true` retries, `false` stops, `undefined` leaves it to the table.
 * It never overrides `maxRetries`, the deadline, a Retry-After beyond `maxRetryAfterMs`, the
 * caller's abort, or the rule about idempotency keys. Synchronous; a promise counts as undefined.
 */
export type ShouldRetry = (failure: Failure, operation: Operation) => boolean | undefined;

/** Waiting for an origin that is down, or failing at once. */
export type WhenDown = 'pause' | 'fail';

/** Fetching what has failed in an outage again at its end, or leaving it. */
export type WhenBack = 'refetch' | 'leave';

/** Who goes first after a pause. The names are those of the Prioritized Task Scheduling API. */
export type Priority = 'user-blocking' | 'user-visible' | 'background';

/** The names of the {@link presets}. */
export type PresetName = 'interactive' | 'background' | 'critical';

/** How failures are answered. A value of `undefined` means the default. */
export interface PolicyOptions {
  /** The values that the other options start from. @default 'interactive' */
  readonly preset?: PresetName | undefined;
  /** The shape of the jitter. @default 'full' */
  readonly backoff?: BackoffType | undefined;
  /** The first step of the backoff, in milliseconds. @default 1000 */
  readonly baseMs?: number | undefined;
  /** What each further step is multiplied by. @default 2 */
  readonly factor?: number | undefined;
  /** The longest backoff, in milliseconds; Retry-After may ask for more. @default 30000 */
  readonly capMs?: number | undefined;
  /** Retries after the first attempt. @default 3 */
  readonly maxRetries?: number | undefined;
  /** No attempt starts later than this after the operation's start, in milliseconds. @default 90000 */
  readonly deadlineMs?: number | undefined;
  /** The time limit of one attempt. @default 10000 */
  readonly timeout?: Timeout | undefined;
  /** The longest Retry-After that is waited for, in milliseconds; beyond it the operation stops. @default 60000 */
  readonly maxRetryAfterMs?: number | undefined;
  /**
   * What to do while the origin is down or rate-limited: wait for it before the attempt is sent, or
   * fail at once. @default 'pause'
   */
  readonly whenDown?: WhenDown | undefined;
  /**
   * What becomes of a query that has failed while its endpoint was down, and is still on screen at the
   * end of the outage: it is fetched again by itself, once, or left. @default 'refetch'
   */
  readonly whenBack?: WhenBack | undefined;
  /** The longest such wait, in milliseconds, from the latest ask; it does not count against `deadlineMs`. @default 60000 */
  readonly maxPauseMs?: number | undefined;
  /**
   * Who goes first after an outage, by the names of the Prioritized Task Scheduling API.
   * `user-blocking`: a user waits for it, whatever the page shows; `background`: nobody does;
   * `user-visible`: whether somebody does is told by the page. @default 'user-visible'
   */
  readonly priority?: Priority | undefined;
  /** A say in the status table. @default none */
  readonly shouldRetry?: ShouldRetry | undefined;
}

/** A policy with every value decided. */
export interface Policy {
  readonly backoff: BackoffType;
  readonly baseMs: number;
  readonly factor: number;
  readonly capMs: number;
  readonly maxRetries: number;
  readonly deadlineMs: number;
  readonly timeout: Timeout;
  readonly maxRetryAfterMs: number;
  readonly whenDown: WhenDown;
  readonly whenBack: WhenBack;
  readonly maxPauseMs: number;
  readonly priority: Priority;
  readonly shouldRetry?: ShouldRetry | undefined;
}

const interactive = {
  backoff: 'full',
  baseMs: 1000,
  factor: 2,
  capMs: 30_000,
  maxRetries: 3,
  deadlineMs: 90_000,
  timeout: 10_000,
  maxRetryAfterMs: 60_000,
  whenDown: 'pause',
  whenBack: 'refetch',
  maxPauseMs: 60_000,
  priority: 'user-visible',
} as const satisfies Policy;

/**
 * The defaults, frozen:
 *
 * - `interactive`: a user waits for it. The default.
 * - `background`: nobody watches; slower, longer, gentler.
 * - `critical`: a submission that must arrive. Short attempts and many of them: on a line where
 *   45 % of the attempts fail, 8 retries within 60 s still miss 99.9 %.
 *
 * @example
 * ```ts
 * presets.interactive.maxRetries; // 3
 * ```
 */
export const presets: Readonly<Record<PresetName, Policy>> = Object.freeze({
  interactive: Object.freeze(interactive),
  background: Object.freeze({
    ...interactive,
    baseMs: 2000,
    capMs: 60_000,
    maxRetries: 8,
    deadlineMs: 600_000,
    timeout: 30_000,
    maxRetryAfterMs: 300_000,
    maxPauseMs: 300_000,
    priority: 'background',
  }),
  critical: Object.freeze({
    ...interactive,
    capMs: 10_000,
    maxRetries: 10,
    deadlineMs: 120_000,
    priority: 'user-blocking',
  }),
});

/**
 * Lays options over a policy, one layer after the other. A `preset` replaces every value below it
 * but `shouldRetry`; `undefined` leaves the value below in place.
 */
export function layer(base: Policy, ...layers: readonly (PolicyOptions | undefined)[]): Policy {
  let policy = base;
  for (const options of layers) {
    // Most calls say nothing of it.
    if (!options || Object.keys(options).length === 0) continue;
    const set = Object.entries(options).filter(([, value]) => value !== undefined);
    const { preset, ...own }: Partial<Policy> & Pick<PolicyOptions, 'preset'> =
      Object.fromEntries(set);
    policy = { ...policy, ...(preset && presets[preset]), ...own };
  }
  return policy;
}
