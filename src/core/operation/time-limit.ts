import { inDevelopment } from '../lib/development.ts';
import type { PageLife } from '../connectivity/page-life.ts';
import { shown } from '../lib/input/url.ts';
import { type LimitContext, TimeLimit, untilAborted, withLimit } from '../lib/timer.ts';
import type { Timeout } from '../policy/options.ts';
import type { AttemptLimit } from './environment.ts';
import type { RequestFacts } from './facts.ts';
import { createError, TimeoutError } from './errors.ts';
import type { Operation } from './operation.ts';

/** The dependencies of time limits. */
export interface TimeLimitContext extends LimitContext {
  /** Undefined without a page. */
  readonly page?: PageLife | undefined;
}

/** The limit for the headers, in milliseconds. */
export const headersLimit = (timeout: Timeout): number =>
  typeof timeout === 'object' ? timeout.headersMs : timeout;

/** The cause of a `TimeoutError`, for developers: which limit passed, and the remedy. Undefined in production. */
export const limitPassed = (what: string, limitMs: number, more = ''): Error | undefined =>
  inDevelopment(
    () =>
      new Error(
        `${what} within ${limitMs} ms${more}; give it a longer \`timeout\` if it is slow by nature.`,
      ),
  );

/**
 * The time limit of an attempt that may do more than send requests of ours, or only waits for another client.
 * Each stretch of that other work gets the policy's `timeout`, from the start of the attempt or the end of
 * its latest request of ours. A limit within bodies (`bodyIdleMs`) does not apply to it.
 *
 * The timer does not call the attempt's function: that would add a frame to the stack of every error inside.
 */
export class AttemptTimer implements AttemptLimit {
  readonly #operation: Operation;
  readonly #limit: TimeLimit;
  readonly #limitMs: number;
  readonly #onLate: (error: TimeoutError) => void;
  /** How many requests are in flight, each with its own limit. */
  #open = 0;

  constructor(
    context: TimeLimitContext,
    operation: Operation,
    onLate: (error: TimeoutError) => void,
  ) {
    const { timeout } = operation.policyOf();
    this.#operation = operation;
    this.#limit = new TimeLimit(context, this, operation.pauses);
    this.#limitMs = typeof timeout === 'object' ? Infinity : timeout;
    this.#onLate = onLate;
    this.#limit.restart(this.#limitMs);
  }

  beginRequest(): () => void {
    if (this.#open++ === 0) this.#limit.stop();
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const isLast = --this.#open === 0 && this.#operation.attemptLimit === this;
      if (isLast) this.#limit.restart(this.#limitMs);
    };
  }

  /** Ends the attempt with a `TimeoutError`, which `onLate` receives first. */
  expire(): TimeoutError {
    const operation = this.#operation;
    const outcome = { kind: 'timeout', phase: 'headers', processed: 'unknown' } as const;
    const passed = limitPassed('retry: the function has not settled', this.#limitMs);
    const text = 'This took too long.';
    const error = createError(TimeoutError, text, operation, outcome, passed);
    this.end();
    this.#onLate(error);
    return error;
  }

  /** Settles with the attempt, or rejects once its time is up. */
  race<T>(begun: Promise<T>): Promise<T> {
    return this.#limit.race(begun);
  }

  end(): void {
    const operation = this.#operation;
    if (operation.attemptLimit === this) operation.limitAttempt(undefined);
    this.#limit.stop();
  }
}

/** The facts of a request that belongs to an operation. */
interface LinkedFacts extends RequestFacts {
  readonly operation: Operation;
  readonly name: string;
}

/**
 * Waits for what a request needs before it is sent: its body, or the storage of its submission. No longer
 * than for its headers, and not beyond the caller's abort.
 *
 * @throws TimeoutError of a request that was not sent; the caller's abort reason.
 */
export async function untilReady<T>(
  context: TimeLimitContext,
  facts: LinkedFacts,
  signal: AbortSignal | undefined,
  needed: Promise<T>,
): Promise<T> {
  const { operation } = facts;
  const limitMs = headersLimit(operation.policyOf(facts).timeout);
  const expire = (): TimeoutError => notReady(facts, limitMs);
  const work = (): Promise<T> => untilAborted(signal, needed);
  try {
    return await withLimit(
      context,
      work,
      expire,
      limitMs === Infinity ? undefined : limitMs,
      operation.pauses,
    );
  } catch (error) {
    throw signal?.aborted ? operation.errors.abortUnsent(facts, signal) : error;
  }
}

function notReady(facts: LinkedFacts, limitMs: number): TimeoutError {
  const { operation, name } = facts;
  // An earlier attempt may have been processed, whatever happens to this one.
  const processed = operation.effects.wasSent() ? 'unknown' : 'no';
  const outcome = { kind: 'timeout', phase: 'headers', processed } as const;
  const text = 'Preparing the request took too long. It was not sent.';
  const passed = limitPassed(`${shown(name)}: what the request needs was not there`, limitMs);
  return createError(TimeoutError, text, operation, outcome, passed, { request: facts });
}
