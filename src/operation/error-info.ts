import { createSlot } from '../lib/slot.ts';
import { classifyAnswer, type Failure, failures } from '../policy/outcome.ts';
import type { ErrorMaker, FailureReport, ForeignAnswer, RequestFacts } from './facts.ts';

// On the side, not on the errors: the caller's abort reason and a SyntaxError of `json()` stay what
// they are, and still say what they meant.
const reports = createSlot<object, FailureReport>();

/** Keeps a report with an error. A value that is no object cannot carry one. */
export function reportFailure(error: unknown, report: FailureReport): void {
  try {
    reports.set(error as object, report);
  } catch {
    // Nor can a frozen one, in an engine where that keeps private fields away, too.
  }
}

/** What is wrong with a request is known before it is sent. @throws the error */
export function refuse(error: unknown, request?: RequestFacts): never {
  reportFailure(error, { request, failure: failures.invalid });
  throw error;
}

/** Reads what was passed. */
export function readPassed<T>(read: () => T, request?: RequestFacts): T {
  try {
    return read();
  } catch (error) {
    return refuse(error, request);
  }
}

/** A copy of an answer says what the answer says. */
export function copyReport<T extends object>(from: object, to: T): T {
  const known = reports.get(from);
  if (known) reports.set(to, { ...known });
  return to;
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

/** An error of another client, or what it is made of. */
interface Foreign extends ForeignAnswer {
  readonly status?: unknown;
  readonly statusCode?: unknown;
  readonly response?: Foreign;
  /** axios */
  readonly code?: unknown;
  readonly config?: { readonly method?: unknown };
  /** ky */
  readonly request?: { readonly method?: unknown };
  readonly cause?: Foreign;
  /** Apollo, urql */
  readonly networkError?: Foreign;
  /** tRPC */
  readonly meta?: { readonly response?: Foreign };
}

/** What axios says of a request without an answer. */
const byCode: Readonly<Record<string, Failure>> = {
  ERR_NETWORK: failures.network,
  ECONNABORTED: { kind: 'timeout', phase: 'headers', processed: 'unknown' },
  ETIMEDOUT: { kind: 'timeout', phase: 'headers', processed: 'unknown' },
  ERR_CANCELED: failures.aborted,
};

/** However long a chain of causes is, or whether it is a ring. */
const maxCauses = 5;

/**
 * What another client's error says of an answer: by its `response` (axios, ky, ofetch), by a status of
 * its own, or by its `cause`. Where that is an answer or an error of ours, all that is known of it.
 */
function readForeign(error: Foreign, nowMs: number): FailureReport {
  let method: unknown;
  let failure: Failure | undefined;
  let answer: Foreign | undefined;
  let at: Foreign | undefined = error;
  for (let depth = 0; !failure && isObject(at) && depth < maxCauses; depth++) {
    const given: Foreign | undefined = at.response ?? at.meta?.response;
    const response = isObject(given) ? given : undefined;
    answer = response ?? at;
    const known = reports.get(at) ?? (response && reports.get(response));
    // What was decided was about that one.
    if (known) return { ...known, decision: undefined };
    method ??= at.config?.method ?? at.request?.method;
    failure =
      (response && readAnswer(response, nowMs)) ??
      readAnswer(at, nowMs) ??
      (response ? undefined : byCode[at.code as string]);
    at = at.cause ?? at.networkError;
  }
  // All that it will have: what is added later costs more.
  return {
    failure: failure ?? failures.error,
    request: typeof method === 'string' ? { method: method.toUpperCase() } : undefined,
    operation: undefined,
    decision: undefined,
    answer,
  };
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function readAnswer(at: Foreign, nowMs: number): Failure | undefined {
  const status = at.status ?? at.statusCode;
  if (typeof status !== 'number' || status < 300 || status > 599) return undefined;
  return classifyAnswer({ status, header: (name) => headerOf(at, name) }, nowMs, false);
}

/** A header of an answer, whichever client has it. */
export function headerOf({ headers }: ForeignAnswer, name: string): string | undefined {
  const value = headers?.get ? headers.get(name) : (headers?.[name] as string | number | undefined);
  return value === null || value === undefined ? undefined : `${value}`;
}

/** An error of ours that no request rejects with, as the client of the latest request makes errors. */
export const toClientError = (
  error: unknown,
  sent: { readonly toClientError?: ErrorMaker | undefined } | undefined,
): unknown => sent?.toClientError?.(error) ?? error;
