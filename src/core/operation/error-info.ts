import { createSlot } from '../lib/slot.ts';
import { failures, classifyAnswer, type Failure } from '../policy/outcome.ts';
import type { ErrorMaker, FailureReport, RequestFacts, ForeignAnswer } from './facts.ts';

// Kept beside the errors, not on them: the caller's abort reason and a SyntaxError of `json()` stay
// unchanged, and their meaning can still be found.
const reports = /* @__PURE__ */ createSlot<object, FailureReport>();

/** Keeps a report with an error. A primitive value cannot carry one. */
export function reportFailure(error: unknown, report: FailureReport): void {
  try {
    reports.set(error as object, report);
  } catch {
    // Neither can a frozen object, in engines that refuse private fields on it.
  }
}

/**
 * Runs a mutationFn. An error that it throws before it has waited for anything is that of no request, so nothing was done:
 * its schema has refused the variables, the user is not logged in, or an earlier version of the app made the variables.
 */
export function runAttending<T>(run: () => Promise<T>): Promise<T> {
  let isAtOnce = true;
  const attend = (error: unknown): void => {
    if (isAtOnce && reportOf(error, 0).failure === failures.error)
      reportFailure(error, { failure: { kind: 'error', processed: 'no' } });
  };
  try {
    const begun = Promise.resolve(run());
    begun.catch(attend);
    return begun;
  } catch (error) {
    attend(error);
    throw error;
  } finally {
    void Promise.resolve().then(() => (isAtOnce = false));
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
    return reports.get(error as object) ?? readForeign(error as Foreign, nowMs, reports.get);
  } catch {
    // Not an object, or a getter of another library's error threw: then nothing is known.
    return { failure: failures.error };
  }
}

/** Turns an error of ours that no request rejected with into an error of the client that sent the latest request. */
export const toClientError = (
  error: unknown,
  sent: { readonly toClientError?: ErrorMaker | undefined } | undefined,
): unknown => sent?.toClientError?.(error) ?? error;

/** An error of another client, or one of its parts. */
export interface Foreign extends ForeignAnswer {
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
  /** tRPC: in a batch the answer is a 207, and each part has a status of its own. */
  readonly meta?: { readonly response?: Foreign };
  readonly data?: { readonly httpStatus?: unknown };
  /** supabase-js, of a function */
  readonly context?: Foreign;
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
 * its `cause`.
 *
 * @param find - Returns the report of a part that is an answer or an error of ours.
 */
export function readForeign(
  error: Foreign,
  nowMs: number,
  find?: (part: object) => FailureReport | undefined,
): FailureReport {
  let method: unknown;
  let failure: Failure | undefined;
  let answer: Foreign | undefined;
  let at: Foreign | undefined = error;
  for (let depth = 0; !failure && isObject(at) && depth < maxCauses; depth++) {
    answer = [at.response, at.meta?.response, at.context].find(isObject) ?? at;
    const known = find?.(at) ?? find?.(answer);
    // The decision was about that error, not about this one.
    if (known) return { ...known, decision: undefined };
    method ??= at.config?.method ?? at.request?.method;
    failure = failureOf(at, answer, nowMs);
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

/** The failure that a part of an error shows: by its answer, its own status, or its code where it has no answer. */
function failureOf(at: Foreign, answer: Foreign, nowMs: number): Failure | undefined {
  const own = readAnswer(at, nowMs, 599);
  if (answer === at) return own ?? byCode[at.code as string];
  return readAnswer(answer, nowMs, 999) ?? own;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** `mostStatus`: a response may have any status of three digits, and in an error a larger one is the app's own code. */
function readAnswer(at: Foreign, nowMs: number, mostStatus: number): Failure | undefined {
  // JSend has `status: 'error'` beside the code, and JSON:API `status: '404'`.
  const status = Number(at.status) || Number(at.statusCode) || Number(at.data?.httpStatus);
  if (!(status >= 300 && status <= mostStatus)) return undefined;
  return classifyAnswer({ status, header: (name) => headerOf(at, name) }, nowMs, false);
}

/** A header of an answer, in the form of any client: a plain object may have it in any case. */
export function headerOf({ headers }: ForeignAnswer, name: string): string | undefined {
  const value = headers?.get
    ? headers.get(name)
    : (Object.entries(headers ?? {}).find(([key]) => key.toLowerCase() === name)?.[1] as
        | string
        | number
        | undefined);
  return value === null || value === undefined ? undefined : `${value}`;
}
