import { createSlot } from '../lib/slot.ts';
import { classifyAnswer, type Failure, failures } from '../policy/outcome.ts';
import type { ErrorMaker, FailureReport, ForeignAnswer, RequestFacts } from './facts.ts';

// Kept beside the errors, not on them: the caller's abort reason and a SyntaxError of `json()` stay
// unchanged, and their meaning can still be found.
const reports = createSlot<object, FailureReport>();

/** Keeps a report with an error. A primitive value cannot carry one. */
export function reportFailure(error: unknown, report: FailureReport): void {
  try {
    reports.set(error as object, report);
  } catch {
    // Neither can a frozen object, in engines that refuse private fields on it.
  }
}

/** Throws an error about a request that is wrong before it is sent. @throws the error */
export function refuse(error: unknown, request?: RequestFacts): never {
  reportFailure(error, { request, failure: failures.invalid });
  throw error;
}

/** Reads what the caller passed. A getter that throws makes the request invalid. */
export function readPassed<T>(read: () => T, request?: RequestFacts): T {
  try {
    return read();
  } catch (error) {
    return refuse(error, request);
  }
}

/** Copies the report of an answer to a clone of it. */
export function copyReport<T extends object>(from: object, to: T): T {
  const known = reports.get(from);
  if (known) reports.set(to, { ...known });
  return to;
}

/** The report of a failure: ours, or as read from the error of another client. */
export function reportOf(error: unknown, nowMs: number): FailureReport {
  try {
    return reports.get(error as object) ?? readForeign(error as Foreign, nowMs);
  } catch {
    // Not an object, or a getter of another library's error threw: then nothing is known.
    return { failure: failures.error };
  }
}

/** An error of another client, or one of its parts. */
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

/** axios's codes of a request without an answer. */
const byCode: Readonly<Record<string, Failure>> = {
  ERR_NETWORK: failures.network,
  ECONNABORTED: { kind: 'timeout', phase: 'headers', processed: 'unknown' },
  ETIMEDOUT: { kind: 'timeout', phase: 'headers', processed: 'unknown' },
  ERR_CANCELED: failures.aborted,
};

/** Ends long or circular chains of causes. */
const maxCauses = 5;

/**
 * Reads the answer behind another client's error: from its `response` (axios, ky, ofetch), its own status, or
 * its `cause`. If that is an answer or an error of ours, its full report is returned.
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
    // The decision was about that error, not about this one.
    if (known) return { ...known, decision: undefined };
    method ??= at.config?.method ?? at.request?.method;
    failure =
      (response && readAnswer(response, nowMs)) ??
      readAnswer(at, nowMs) ??
      (response ? undefined : byCode[at.code as string]);
    at = at.cause ?? at.networkError;
  }
  // All fields at once: adding one later changes the object's shape, which is slower.
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

/** A header of an answer, in the form of any client. */
export function headerOf({ headers }: ForeignAnswer, name: string): string | undefined {
  const value = headers?.get ? headers.get(name) : (headers?.[name] as string | number | undefined);
  return value === null || value === undefined ? undefined : `${value}`;
}

/** Turns an error of ours that no request rejected with into an error of the client that sent the latest request. */
export const toClientError = (
  error: unknown,
  sent: { readonly toClientError?: ErrorMaker | undefined } | undefined,
): unknown => sent?.toClientError?.(error) ?? error;
