import { createSlot } from '../lib/slot.ts';
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
  readonly live?: LiveOperation | undefined;
}

/** Sending it twice does no harm. */
export function isRepeatable({ keyed, idempotent, method = '' }: RequestFacts): boolean {
  return !!keyed || !!idempotent || isIdempotentMethod(method);
}

/** The operations that have failed with one error, where React Query decides whether they go on. */
export interface Failed {
  /** The only one, or the one that React Query has asked about last. */
  latest?: LiveOperation | undefined;
  /** Where there are several: those that it has not asked about, in order. */
  queue?: Set<LiveOperation> | undefined;
}

/** A failure, and what is known of its request. */
export interface FailureReport extends RequestFacts, Failed {
  failure: Failure;
  live?: LiveOperation | undefined;
  /** What was decided about it. */
  decision?: Decision | undefined;
}

// On the side, not on the errors: the caller's abort reason and a SyntaxError of `json()` stay what
// they are, and still say what they meant.
const reports = createSlot<object, FailureReport>();

/** @returns Whether the error can carry it: a value that is no object cannot. */
export function reportFailure(error: unknown, report: FailureReport): boolean {
  try {
    const known = reports.get(error as object);
    const { latest, queue } = known ?? {};
    if (known !== report)
      reports.set(error as object, known ? { latest, queue, ...report } : report);
    return true;
  } catch {
    // Nor can what is frozen, in an engine where that keeps private fields away, too.
    return false;
  }
}

/** The report of a failure: ours, or what can be read from the error of another client. */
export function reportOf(error: unknown, nowMs: number): FailureReport {
  try {
    return reports.get(error as object) ?? readForeign(error as Foreign, nowMs);
  } catch {
    // Not an object, or a getter of somebody else's error threw: then nothing is known.
    return { failure: failures.error };
  }
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
  let failure = failures.error;
  if (typeof status === 'number' && status >= 300 && headers) {
    const header = (name: string): string | undefined => {
      const value = headers.get
        ? headers.get(name)
        : (headers[name] as string | number | undefined);
      return value === null || value === undefined ? undefined : `${value}`;
    };
    failure = classifyAnswer({ status, header }, nowMs, false);
  }
  // All that it will have: what is added later costs more.
  const report = { failure, live: undefined, decision: undefined, latest: undefined };
  return typeof method === 'string' ? { method: method.toUpperCase(), ...report } : report;
}
