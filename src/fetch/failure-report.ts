import { classifyAnswer, type Failure, failures } from '../policy/outcome.ts';
import type { Decision } from '../policy/decide.ts';
import { isIdempotentMethod } from '../policy/operation.ts';
import type { PolicyOptions } from '../policy/options.ts';
import type { LiveOperation } from './live-operation.ts';

/** What is known of a request: all of it of ours, next to nothing of another client's. */
export interface RequestFacts {
  /** In upper case. */
  readonly method?: string;
  /** As it was passed. */
  readonly url?: string;
  /** It carries an idempotency key that its API is declared to honour. */
  readonly keyed?: boolean;
  /** Declared to be idempotent, whatever its method. */
  readonly idempotent?: boolean | undefined;
  /** The policies of the API and of the call. */
  readonly apiPolicy?: PolicyOptions | undefined;
  readonly callPolicy?: PolicyOptions | undefined;
  /** The operation that the request is part of. */
  readonly live?: LiveOperation;
}

/** Sending it twice does no harm. */
export function isRepeatable({ keyed, idempotent, method = '' }: RequestFacts): boolean {
  return !!keyed || !!idempotent || isIdempotentMethod(method);
}

/** A failure, and what is known of its request. */
export interface FailureReport extends RequestFacts {
  readonly failure: Failure;
  /** What was decided about it. */
  readonly decision?: Decision;
}

// On the side, not on the errors: the caller's abort reason and a SyntaxError of `json()` stay
// what they are, and still say what they meant.
const reports = new WeakMap<object, FailureReport>();

export function reportFailure(error: unknown, report: FailureReport): void {
  if (isObject(error)) reports.set(error, report);
}

/** The report of a failure: ours, or what can be read from the error of another client. */
export function reportOf(error: unknown, nowMs: number): FailureReport {
  try {
    return (isObject(error) && reports.get(error)) || readForeign(error as Foreign, nowMs);
  } catch {
    // Not an object, or a getter of somebody else's error threw: then nothing is known.
    return { failure: failures.error };
  }
}

function isObject(value: unknown): value is object {
  return Object(value) === value;
}

interface Foreign {
  readonly status?: unknown;
  readonly headers?: { get?: (name: string) => string | null } & Record<string, unknown>;
  readonly response?: Foreign;
  /** axios */
  readonly config?: { readonly method?: unknown };
  /** ky */
  readonly request?: { readonly method?: unknown };
}

/**
 * A thrown Response, or an error that carries one as `response` (axios, ky, ofetch), says its
 * status and its Retry-After; axios' `config` and ky's `request` say the method.
 */
function readForeign(error: Foreign, nowMs: number): FailureReport {
  const { status, headers } = error.response ?? error;
  const method = error.config?.method ?? error.request?.method;
  const header = (name: string): string =>
    `${headers?.get ? headers.get(name) : (headers?.[name] as string | undefined)}`;
  return {
    ...(typeof method === 'string' && { method: method.toUpperCase() }),
    failure:
      typeof status === 'number' && status >= 300 && headers
        ? classifyAnswer({ status, header }, nowMs, false)
        : failures.error,
  };
}
