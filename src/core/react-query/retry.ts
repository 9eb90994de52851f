import { inDevelopment } from '../lib/development.ts';
import { SteadyRequest } from '../fetch/request.ts';
import type { Clock } from '../lib/clock.ts';
import { firstOf } from '../lib/abort.ts';
import { untilAborted } from '../lib/timer.ts';
import { reject } from '../lib/input/check.ts';
import { definePolicy, type PolicyOptions } from '../policy/options.ts';
import { reportOf } from '../operation/error-info.ts';
import { runLoop } from '../operation/loop.ts';
import type { Operation } from '../operation/operation.ts';
import type { Operations } from '../operation/operations.ts';
import { endedWithSession, type Live } from '../operation/parts/session.ts';
import { AttemptTimer, headersLimit } from '../operation/time-limit.ts';
import { warn } from '../lib/input/warn.ts';
import { checkMade, codeOf } from '../lib/input/made-by.ts';
import type { Fallback, FallbackCode } from './query/fallback.ts';
import { instanceOfSteady } from './instance.ts';
import type { Steadfetch } from './steadfetch.ts';

/** The argument of the function given to `retry`. */
export interface RetryContext {
  /** Counted from 1. */
  readonly attempt: number;
  /**
   * Aborted with the caller's signal, and with the error of this attempt when it is over its `timeout`,
   * or has failed and another follows. Pass it on: it also tells `steady.fetch` what it is part of.
   */
  readonly signal: AbortSignal;
}

/** The options of `retry`: a policy, and options of the loop itself. */
export interface RetryOptions extends PolicyOptions {
  /** Ends the loop at once, also in a wait, with its own reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The function may run twice without harm. Without this option nothing is retried after a POST without a key that may
   * have been done, or after a failure of another client whose method is not known.
   * @default false
   */
  readonly idempotent?: boolean | undefined;
}

/** The value that the loop resolves with when it fails for good. */
export interface RetryFallback<T> {
  /** Made by `fallback`. @default none */
  readonly fallback?: Fallback<T> | undefined;
}

/**
 * Runs a function until it succeeds or the policy stops: the loop for router loaders and scripts,
 * outside React Query. Rejects with the last error as it was thrown.
 *
 * @throws the last error; the caller's abort reason; TypeError when an option is not as it must be.
 *
 * @example
 * ```ts
 * const names = await retry(
 *   steady,
 *   ({ signal }) => steady.json<string[]>('/api/names', { signal }),
 *   { deadlineMs: 5000 },
 * );
 * ```
 */
export async function retry<T>(
  steady: Steadfetch,
  run: (context: RetryContext) => T | Promise<T>,
  options?: RetryOptions & RetryFallback<NoInfer<T>>,
): Promise<T> {
  const context = instanceOfSteady(steady, 'retry');
  const { policy, operations, signals } = context;
  const {
    signal: caller,
    idempotent,
    fallback: offered,
    ...own
  }: RetryOptions & RetryFallback<T> = options ?? {};
  if (process.env.NODE_ENV !== 'production' && typeof run !== 'function')
    reject('retry', 'its second argument', run, 'a function');
  inDevelopment(() => definePolicy('retry', policy, own));
  const fallback = checkMade('retry', 'fallback', offered, 'fallback');
  inDevelopment(() => warnOfNesting(operations, caller && signals.get(caller)));
  const operation = operations.begin('call', { policy: own, idempotent });
  if (caller?.aborted) throw operation.errors.abortUnsent(undefined, caller);
  // Each loop has a signal of its own, because several loops may have the signal of one caller. It outlives the loop,
  // for a body that is still to be read, and needs no listener that would have to be removed.
  const link = (late: AbortSignal): AbortSignal => {
    const signal = caller ? firstOf([caller, late]) : late;
    signals.set(signal, operation);
    return signal;
  };
  let present: AttemptContext | undefined;
  // An attempt that is over, by its limit or by its failure, sends nothing more.
  const onLate = (error: unknown): void => present?.end(error);
  const prepare = (): [RetryContext] => {
    operation.limitAttempt(new AttemptTimer(context, operation, onLate));
    present = new AttemptContext(operation.attempt, link);
    return [present];
  };
  const body = { prepare, run, onRetry: onLate };
  try {
    return await untilSessionEnds(operations, operation, onLate, () =>
      runLoop(context, operation, caller, body),
    );
  } catch (error) {
    if (!fallback || caller?.aborted) throw error;
    return await replace(context.clock, operation, fallback, caller, error);
  }
}

/** The fallback for an operation that failed for good. @throws the failure, if there is no fallback value. */
async function replace<T>(
  clock: Clock,
  operation: Operation,
  fallback: Fallback<T>,
  caller: AbortSignal | undefined,
  error: unknown,
): Promise<T> {
  if (operation.errors.decision?.kind !== 'stop' || operation.isLeft) throw error;
  const limitMs = headersLimit(operation.policyOf().timeout);
  const { given, resolve } = codeOf<FallbackCode>(fallback);
  const made = resolve(given, { error, lastData: undefined }, clock, limitMs);
  const data = await untilAborted(caller, made);
  if (data === undefined) throw error;
  return data as T;
}

/**
 * Settles as the loop does, or rejects when its session ends. Between two attempts the loop itself ends with the latest
 * error; otherwise it rejects at once.
 */
async function untilSessionEnds<T>(
  { live }: Operations,
  operation: Operation,
  onEnd: (error: unknown) => void,
  begin: () => Promise<T>,
): Promise<T> {
  let member: Live | undefined;
  try {
    return await new Promise<T>((resolve, fail) => {
      member = {
        endSession() {
          const { phase, attempt, effects } = operation;
          if (!operation.isLeft || phase.kind === 'waiting' || phase.kind === 'ended') return;
          // The requests of another client are not known.
          const isOurs = [...live].some(
            (one) => one instanceof SteadyRequest && one.operation === operation,
          );
          const isUnknown = effects.isUnknown() || !isOurs;
          const isOut = isUnknown || phase.kind !== 'paused';
          const error =
            phase.kind === 'paused' && attempt > 1
              ? operation.errors.lastError
              : endedWithSession(operation, isOut, isUnknown ? 'unknown' : 'no');
          operation.cancel(error, reportOf(error, 0));
          onEnd(error);
          fail(error);
        },
      };
      live.add(member);
      begin().then(resolve, fail);
    });
  } finally {
    if (member) live.delete(member);
  }
}

/** The context of one attempt. Its signal is created only when it is read, because that is the slowest part. */
class AttemptContext implements RetryContext {
  readonly attempt: number;
  declare readonly signal: AbortSignal;
  readonly #link: (own: AbortSignal) => AbortSignal;
  #own: AbortController | undefined;
  #signal: AbortSignal | undefined;
  /** Why the attempt is over; boxed, because it may be any value. */
  #end: { readonly error: unknown } | undefined;

  constructor(attempt: number, link: (own: AbortSignal) => AbortSignal) {
    this.attempt = attempt;
    this.#link = link;
    Object.defineProperty(this, 'signal', readSignal);
  }

  open(): AbortSignal {
    if (!this.#signal) {
      this.#own = new AbortController();
      if (this.#end) this.#own.abort(this.#end.error);
      this.#signal = this.#link(this.#own.signal);
    }
    return this.#signal;
  }

  end(error: unknown): void {
    this.#end = { error };
    this.#own?.abort(error);
  }
}

/** An own property, so that a copy of the context has it. One descriptor serves all contexts, which is fast. */
const readSignal: PropertyDescriptor & ThisType<AttemptContext> = {
  enumerable: true,
  get() {
    return this.open();
  },
};

function warnOfNesting(operations: Operations, linked: Operation | undefined): void {
  const outer = operations.current ?? linked;
  if (!outer || outer.isSingle) return;
  warn(
    operations,
    'nested retry',
    `retry runs inside a ${outer.ref.kind} that is retried already. Two retry loops multiply: ` +
      `three tries in each of two are nine requests. Call steady.fetch there instead.`,
    'retry.md#anti-patterns',
  );
}
