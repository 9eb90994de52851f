import { createSlot } from '../lib/slot.ts';
import { failures } from '../policy/outcome.ts';
import type { ErrorMaker, FailureReport, RequestFacts } from './facts.ts';
import { type Foreign, readForeign } from './parts/foreign-error.ts';

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
