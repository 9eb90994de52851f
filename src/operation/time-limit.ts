import type { PageLife } from '../connectivity/page-life.ts';
import { type Clock, maxTimerMs } from '../lib/clock.ts';
import { shown } from '../lib/input/url.ts';
import { untilAborted } from '../lib/wait.ts';
import type { Timeout } from '../policy/options.ts';
import type { AttemptLimit } from './environment.ts';
import { reportFailure } from './error-info.ts';
import type { RequestFacts } from './facts.ts';
import { TimeoutError } from './errors.ts';
import type { Operation } from './operation.ts';

/** A time limit of a request, or of a silence within its body. */
export interface TimeLimit {
  timer: unknown;
  /** In epoch milliseconds. */
  dueAt: number;
}

/** Whose limit it is. */
interface Limited {
  readonly context: TimeLimitContext;
  readonly facts: { readonly operation: Operation };
  /** It is over. */
  readonly expire: () => void;
}

/** What time limits stand on. */
export interface TimeLimitContext {
  readonly clock: Clock;
  /** Undefined where there is no page. */
  readonly page?: PageLife | undefined;
}

/** A timer that is later than this was asleep with its tab, and an answer may have come meanwhile. */
const latestMs = 1000;

/** Those of a hidden tab that is awake are no later: they fire once a minute. */
const throttledMs = 61_000;

/** The part of a limit that is about the time before a body, in milliseconds. */
export const headersLimit = (timeout: Timeout): number =>
  typeof timeout === 'object' ? timeout.headersMs : timeout;

/** For developers, as the cause of a `TimeoutError`: which limit passed, and what helps. Undefined in production. */
export const limitPassed = (what: string, limitMs: number): Error | undefined =>
  process.env.NODE_ENV === 'production'
    ? undefined
    : new Error(
        `${what} within ${limitMs} ms; give it a longer \`timeout\` if it is slow by nature.`,
      );

/** A time limit that is not set yet. */
export const noLimit = (): TimeLimit => ({ timer: undefined, dueAt: Infinity });

/**
 * Puts a new limit in the place of the old one; none lifts it. What took longer because the tab or
 * the machine was asleep counts as paused.
 */
export function setLimit(limited: Limited, limit: TimeLimit, limitMs: number = Infinity): void {
  limited.context.clock.clearTimeout(limit.timer);
  account(limited, limit);
  // No timer holds a longer limit: it would fire at once.
  if (limitMs <= maxTimerMs) start(limited, limit, limitMs);
}

function start(
  limited: Limited,
  limit: TimeLimit,
  limitMs: number,
  wasAsleep: boolean = false,
): void {
  const { clock, page } = limited.context;
  const setAt = clock.now();
  limit.dueAt = setAt + limitMs;
  limit.timer = clock.setTimeout(() => {
    const lateMs = account(limited, limit);
    // Time that the tab was frozen does not count. Where it may only be hidden, with timers that
    // are late each time, that is believed once.
    const isAsleep = !wasAsleep || lateMs > throttledMs || page?.wasAsleep(setAt);
    if (lateMs > latestMs && isAsleep) start(limited, limit, limitMs, true);
    else limited.expire();
  }, limitMs);
  // An answer whose body nobody reads must not keep a Node process alive.
  clock.unref?.(limit.timer);
}

function account({ context, facts }: Limited, limit: TimeLimit): number {
  if (limit.dueAt === Infinity) return 0;
  const now = context.clock.now();
  const lateMs = now - limit.dueAt;
  if (lateMs > latestMs) facts.operation.pauses.count(limit.dueAt + latestMs, now);
  limit.dueAt = Infinity;
  return lateMs;
}

/**
 * The time limit of an attempt that may do more than send requests of ours, or nothing but wait for another
 * client: what it spends on that at a stretch has the policy's `timeout`, from its start or from the end of
 * its latest request of ours. A limit within bodies (`bodyIdleMs`) says nothing of it.
 *
 * It does not run the attempt: every error that is made in there has all that calls it in its stack.
 */
export class AttemptTimer implements AttemptLimit, Limited, TimeLimit {
  readonly context: TimeLimitContext;
  readonly facts: { readonly operation: Operation };
  timer: unknown;
  dueAt: number = Infinity;
  readonly #limitMs: number;
  readonly #onLate: (error: TimeoutError) => void;
  /** Its requests that are under way: each has a limit of its own. */
  #open = 0;
  #reject: ((error: unknown) => void) | undefined;

  constructor(
    context: TimeLimitContext,
    operation: Operation,
    onLate: (error: TimeoutError) => void,
  ) {
    const { timeout } = operation.policyOf({});
    this.context = context;
    this.facts = { operation };
    this.#limitMs = typeof timeout === 'object' ? Infinity : timeout;
    this.#onLate = onLate;
    operation.attemptLimit = this;
    setLimit(this, this, this.#limitMs);
  }

  beginRequest(): () => void {
    if (this.#open++ === 0) setLimit(this, this);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const isLast = --this.#open === 0 && this.facts.operation.attemptLimit === this;
      if (isLast) setLimit(this, this, this.#limitMs);
    };
  }

  /** The time is up: the attempt ends with a `TimeoutError`, which `onLate` is given first. */
  expire(): void {
    const { operation } = this.facts;
    const outcome = { kind: 'timeout', phase: 'headers', processed: 'unknown' } as const;
    const error = new TimeoutError('This took too long.', {
      operation: operation.view({}),
      outcome,
      cause: limitPassed('retry: the function has not settled', this.#limitMs),
    });
    reportFailure(error, { operation, failure: outcome });
    this.end();
    this.#onLate(error);
    this.#reject?.(error);
  }

  /** @returns what settles as the attempt does or, once the time is up, rejects. */
  limit<T>(begun: T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      Promise.resolve(begun).then(resolve, reject);
    });
  }

  end(): void {
    const { operation } = this.facts;
    if (operation.attemptLimit === this) operation.attemptLimit = undefined;
    setLimit(this, this);
  }
}

/** What is known of a request of an operation. */
interface LinkedFacts extends RequestFacts {
  readonly operation: Operation;
  readonly name: string;
}

/**
 * Waits for what a request needs before it goes: its body, or the storage that keeps its submission. No
 * longer than for its headers, and not beyond the caller's abort.
 *
 * @throws TimeoutError of a request that was not sent; the caller's abort reason.
 */
export async function prepare<T>(
  context: TimeLimitContext,
  facts: LinkedFacts,
  signal: AbortSignal | undefined,
  needed: Promise<T>,
): Promise<T> {
  const { operation } = facts;
  const limitMs = headersLimit(operation.policyOf(facts).timeout);
  const limit = noLimit();
  let expire = (): void => {};
  const late = new Promise<never>((_, reject) => {
    expire = () => reject(notReady(facts, limitMs));
  });
  const limited = { context, facts, expire };
  setLimit(limited, limit, limitMs);
  try {
    return await untilAborted(signal, Promise.race([needed, late]));
  } catch (error) {
    throw signal?.aborted ? operation.errors.abortUnsent(facts, signal) : error;
  } finally {
    setLimit(limited, limit);
  }
}

function notReady(facts: LinkedFacts, limitMs: number): TimeoutError {
  const { operation, name } = facts;
  // What an earlier attempt may have done, this one does not undo.
  const processed = operation.effects.wasSent(facts.effect) ? 'unknown' : 'no';
  const outcome = { kind: 'timeout', phase: 'headers', processed } as const;
  const error = new TimeoutError('Preparing the request took too long. It was not sent.', {
    operation: operation.view(facts),
    outcome,
    cause: limitPassed(`${shown(name)}: what the request needs was not there`, limitMs),
  });
  reportFailure(error, { ...facts, failure: outcome });
  return error;
}
