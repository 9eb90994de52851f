import { inDevelopment } from '../core/lib/development.ts';
import {
  definePolicy,
  inPolicy,
  type Decision,
  type Failure,
  type Policy,
  type PolicyOptions,
  type RawFetch,
  type SteadyFetch,
  type SteadyJson,
  type StopReason,
} from '../core/internal.ts';
import { checkNames, isFunction, reject } from '../core/lib/input/check.ts';
import type { DeadReason, Row } from './store/row.ts';

/** The second argument of a `mutationFn`. */
export interface OutboxContext {
  /** `steady.fetch` for this entry: what it sends is part of it, also after an await. */
  readonly fetch: SteadyFetch;
  /** `steady.json` for this entry. */
  readonly json: SteadyJson;
  /** `steady.rawFetch` for this entry: for another client, as its `fetch`. */
  readonly rawFetch: RawFetch;
  /** The same on every attempt, in whatever tab. Reading it has no effect. */
  readonly idempotencyKey: string;
  /**
   * The same key, for a client that sends past Steadfetch: calling it says that the client sends the key. Only
   * then may the submission be sent again without asking the user. What goes through `fetch`, `json` or
   * `rawFetch` needs no such word: there it is seen whether the key goes.
   *
   * @example
   * ```ts
   * const placeOrder = outboxHandler({
   *   mutationFn: (body: string, { takeKey, signal }) =>
   *     fetch('/orders', { method: 'POST', body, signal, headers: { 'Idempotency-Key': takeKey() } }),
   * });
   * ```
   */
  readonly takeKey: () => string;
  /** Counted from 1, over all tabs and reloads, also those that were only paused: `attempts` of the entry leaves these out. */
  readonly attempt: number;
  /** Aborted when the entry is discarded. `fetch`, `json` and `rawFetch` have it already. */
  readonly signal: AbortSignal;
}

/** A policy for entries of an outbox, whose waits outlive the page. */
export type OutboxPolicy = Omit<PolicyOptions, 'maxRetries' | 'deadlineMs'>;

/** How two changes of one thing become one. */
export interface OutboxCoalesce<TVariables = never> {
  /**
   * The thing that it changes: its id, which may be an `answerOf` the entry that creates it. Undefined for none. It is
   * merged with that entry where the id is all of the text; within a longer text, with other changes only.
   */
  readonly by: (variables: NoInfer<TVariables>) => string | undefined;
  /**
   * The variables of the earlier entry once it has this change in it, by the handler that it has; `'neither'` where the
   * two leave nothing to do, as creating and deleting; `'both'` where they stay two. The id that stands for the
   * earlier entry itself has no place in its variables.
   */
  readonly merge: (
    earlier: { readonly handler: string; readonly variables: unknown },
    later: NoInfer<TVariables>,
  ) => { readonly variables: unknown } | 'neither' | 'both';
}

/** How entries of one name are delivered: by any tab, also after a reload, without the component. */
export interface OutboxHandler<TVariables = never, TData = unknown> {
  /**
   * Sends it: runs once for each attempt. Whatever identifies the user is read here, when it is
   * sent: nothing of it is stored.
   */
  readonly mutationFn: (variables: TVariables, context: OutboxContext) => Promise<TData>;
  /**
   * How its failures are answered. There is no end of retries and no deadline: see `maxAttempts` and
   * `maxAgeMs`. @default 10 s for an attempt, full jitter from 1 s to 5 minutes
   */
  readonly policy?: OutboxPolicy | undefined;
  /** All that it sends may take effect twice: it is sent again without a key, too. @default false */
  readonly idempotent?: boolean | undefined;
  /** Entries with the same scope are delivered one after the other, the oldest first. @default none */
  readonly scope?: string | ((variables: NoInfer<TVariables>) => string | undefined) | undefined;
  /**
   * Whether a dead letter holds up its scope: the others wait until a user has decided,
   * or pass it. @default 'block'
   */
  readonly onDead?: 'block' | 'pass' | undefined;
  /** The version of the variables: count it up when their shape changes. @default 1 */
  readonly version?: number | undefined;
  /**
   * Turns the variables of an earlier version into those of this one, for each attempt and each time
   * the entry is read: the stored ones stay as they are. Where it throws, or is left out, they are dead
   * letters until a later version can. @default none
   */
  readonly migrate?: ((variables: unknown, version: number) => NoInfer<TVariables>) | undefined;
  /**
   * How it is merged with the entry before it that changes the same thing, while surely nothing of that one was sent.
   * Needs `links: outboxLinks({ coalesce: coalesceUnsent() })`. @default none
   */
  readonly coalesce?: OutboxCoalesce<TVariables> | undefined;
  /** A user is asked after so many attempts. @default Infinity */
  readonly maxAttempts?: number | undefined;
  /** A user is asked after so long, in milliseconds. @default Infinity */
  readonly maxAgeMs?: number | undefined;
}

export interface Limits {
  readonly maxAttempts: number;
  readonly maxAgeMs: number;
}

export interface HandlerDefinition extends Limits {
  readonly handler: OutboxHandler<unknown>;
  readonly version: number;
  /** The options that it lays over the policy of the instance. */
  readonly own: PolicyOptions;
  readonly policy: Policy;
}

export type OutboxHandlers = Readonly<Record<string, object>>;

/** As long as it takes: the waits grow to minutes, because no user watches them. */
const patient = {
  preset: 'critical',
  capMs: 300_000,
  priority: 'user-visible',
} as const satisfies PolicyOptions;

/**
 * Decides the rest of each handler.
 *
 * @throws TypeError in development, when one is not as it must be.
 */
export function defineHandlers(
  handlers: OutboxHandlers,
  base: Policy,
): ReadonlyMap<string, HandlerDefinition> {
  return new Map(
    Object.entries(handlers).map(([name, handler]) => [name, define(name, handler, base)]),
  );
}

/** @throws TypeError when there is no handler of this name. */
export function definitionOf(
  operation: string,
  handlers: ReadonlyMap<string, HandlerDefinition>,
  name: string,
): HandlerDefinition {
  return (
    handlers.get(name) ??
    reject(
      operation,
      'handler',
      name,
      inDevelopment(() => `one of ${[...handlers.keys()].join(', ')}`),
    )
  );
}

/**
 * The scope of an entry with these variables.
 *
 * @throws TypeError when the handler's `scope` gives no text; and what it throws.
 */
export function scopeOf(
  operation: string,
  { handler: { scope } }: HandlerDefinition,
  variables: unknown,
): string | undefined {
  const given = typeof scope === 'function' ? scope(variables) : scope;
  if (given !== undefined && typeof given !== 'string')
    reject(
      operation,
      'scope',
      given,
      inDevelopment(() => 'a text, or undefined'),
    );
  return given;
}

function define(name: string, given: object, base: Policy): HandlerDefinition {
  const operation = `createOutbox: handlers.${name}`;
  const handler = given as OutboxHandler<unknown>;
  inDevelopment(() => check(operation, handler));
  const { version = 1, maxAttempts = Infinity, maxAgeMs = Infinity, policy } = handler;
  const own = { ...patient, ...policy, maxRetries: maxAttempts - 1, deadlineMs: Infinity };
  return {
    handler,
    version,
    maxAttempts,
    maxAgeMs,
    own,
    policy: definePolicy(operation, base, own),
  };
}

const isText = (value: unknown): boolean => typeof value === 'string';
const isFrom = (least: number, value: unknown): boolean =>
  typeof value === 'number' && value >= least;
const isWhole = (value: unknown): boolean => Number.isSafeInteger(value) && isFrom(1, value);

/** For each option, which values it may have where it is given, and in words. */
const options: Readonly<
  Record<string, readonly [isRight: (value: never) => boolean, allowed: string]>
> = {
  mutationFn: [isFunction, 'a function that sends it'],
  scope: [
    (value) => isText(value) || isFunction(value),
    'a string, or a function of the variables',
  ],
  onDead: [(value) => value === 'block' || value === 'pass', `'block' or 'pass'`],
  version: [isWhole, 'a whole number from 1'],
  migrate: [isFunction, 'a function'],
  coalesce: [
    (value: OutboxCoalesce | null) => isFunction(value?.by) && isFunction(value?.merge),
    'an object with the functions by and merge',
  ],
  maxAttempts: [(value) => isFrom(1, value), 'a number from 1'],
  maxAgeMs: [(value) => isFrom(0, value), 'a number from 0'],
};
const unchecked = ['policy', 'idempotent', 'invalidates', 'onDelivered'];

/** Until it arrives, an entry is sent again: what limits that has names of its own. */
const limits = {
  retry: 'maxAttempts',
  retries: 'maxAttempts',
  maxRetries: 'maxAttempts',
  deadlineMs: 'maxAgeMs',
} as const;

function check(operation: string, handler: OutboxHandler<unknown>): void {
  checkNames(operation, handler, [...Object.keys(options), ...unchecked], {
    ...inPolicy(false),
    ...limits,
  });
  for (const [option, [isRight, allowed]] of Object.entries(options)) {
    const value: unknown = Reflect.get(handler, option);
    const isLeftOut = value === undefined && option !== 'mutationFn';
    if (!isLeftOut && !isRight(value as never)) reject(operation, option, value, allowed);
  }
  for (const option of ['maxRetries', 'deadlineMs'])
    if (option in (handler.policy ?? {}))
      reject(
        operation,
        `policy.${option}`,
        Reflect.get(handler.policy ?? {}, option),
        'left out: an entry is sent until it arrives, or until maxAttempts or maxAgeMs of its handler',
      );
}

/** The fate of an entry after an attempt that failed. */
export type NextStep =
  | {
      readonly kind: 'again';
      readonly nextRetryAt: number;
      /** The server has said so. */
      readonly notBefore?: number;
      readonly attempts: number;
    }
  | { readonly kind: 'dead'; readonly reason: DeadReason };

/** The time, and how long to wait where the server has not said. */
interface Timing {
  readonly nowMs: number;
  readonly backoffMs: () => number;
}

/** An attempt that failed. */
export interface Failed {
  readonly failure: Failure;
  readonly decision: Decision;
  /** True if a request of the attempt was sent. */
  readonly wasSent: boolean;
  /** It, or one before it, may have been done. */
  readonly isInDoubt: boolean;
  /** True if the attempt was not made, because the record that must precede its first request was not kept in time. */
  readonly isUnsent?: boolean;
  /** How long until new credentials can be requested, if the attempt failed for want of them. */
  readonly renewableInMs?: number | undefined;
}

/** Ends that a user must decide on. All other ends of a policy are waits for an outbox. */
const finals: Partial<Record<StopReason, DeadReason>> = {
  'not-retryable': 'refused',
  'should-retry': 'refused',
  'not-idempotent': 'not-repeatable',
  processed: 'answer-lost',
  expired: 'expired',
  'age-unknown': 'age-unknown',
  superseded: 'superseded',
};

/** The end that a failure means; undefined if it is a wait. What was surely not done is repeated, unless it fails by itself. */
function endOf({ decision, failure, isInDoubt }: Failed): DeadReason | undefined {
  if (decision.kind === 'retry') return undefined;
  if (decision.reason !== 'not-idempotent' || isInDoubt) return finals[decision.reason];
  return failure.kind === 'error' ? 'refused' : undefined;
}

/** Servers name longer waits by mistake: an epoch time for a number of seconds. */
const longestNoticeMs = 86_400_000;

/** When it is sent next, and when (at the soonest) the server has said; where that is no end that a user must decide on. */
function planNext(
  { failure, decision, renewableInMs }: Failed,
  { nowMs, backoffMs }: Timing,
): { readonly nextRetryAt: number; readonly notBefore?: number } {
  // The waits of the admission do not outlive its knowledge: a later attempt requests a permit again.
  const isOver = decision.reason === 'paused-too-long';
  const askedMs = failure.kind === 'http' && !isOver ? failure.retryAfterMs : undefined;
  const leastMs = renewableInMs === undefined ? askedMs : Math.max(0, renewableInMs);
  const noticeMs = leastMs && Math.min(leastMs, longestNoticeMs);
  const waitMs =
    decision.kind === 'retry' ? decision.delayMs : Math.max(backoffMs(), noticeMs ?? 0);
  return { nextRetryAt: nowMs + waitMs, ...(noticeMs && { notBefore: nowMs + noticeMs }) };
}

/**
 * The step after an attempt that failed: as the policy has decided; and where that would only have
 * stopped waiting (its time, its number of retries), a later attempt. `backoffMs` is the
 * wait where the server has named none.
 */
export function nextStepOf(
  failed: Failed,
  { attempts, createdAt, conflicts }: Pick<Row, 'attempts' | 'createdAt' | 'conflicts'>,
  { maxAttempts, maxAgeMs }: Limits,
  timing: Timing,
): NextStep {
  const { decision, wasSent, isUnsent, renewableInMs } = failed;
  const isSignedOut = renewableInMs !== undefined;
  const end = isSignedOut ? undefined : endOf(failed);
  // A request that could not be sent will not be a better one; what is paused was none.
  if (end) return { kind: 'dead', reason: end };
  const isPaused = isSignedOut || (decision.reason === 'paused-too-long' && !wasSent);
  const made = isUnsent || isPaused ? attempts : attempts + 1;
  if (made >= maxAttempts) return { kind: 'dead', reason: 'max-attempts' };
  if (isInProgress(failed) && conflicts + 1 >= mostConflicts)
    return { kind: 'dead', reason: 'cannot-find-out' };
  const next = planNext(failed, timing);
  return next.nextRetryAt - createdAt > maxAgeMs
    ? { kind: 'dead', reason: 'max-age' }
    : { kind: 'again', ...next, attempts: made };
}

/**
 * How often in a row, in some ten minutes, "the first request is still running" is believed. No request runs for so long:
 * after that it counts as a refusal, which this API does not tell apart.
 */
const mostConflicts = 15;

export const isInProgress = ({ failure }: Pick<Failed, 'failure'>): boolean =>
  failure.kind === 'http' && failure.inProgress;

/** Which of its limits an entry has reached before this attempt: it waited too long, or its pages died at it. */
export function limitOf(
  { attempts, createdAt, isRedriven }: Row,
  { maxAttempts, maxAgeMs }: Limits,
  nowMs: number,
): DeadReason | undefined {
  if (isRedriven) return undefined;
  if (attempts >= maxAttempts) return 'max-attempts';
  return nowMs - createdAt > maxAgeMs ? 'max-age' : undefined;
}
