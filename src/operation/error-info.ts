import { createSlot } from '../lib/slot.ts';
import { failures } from '../policy/outcome.ts';
import type { ErrorMaker, FailureReport, RequestFacts } from './facts.ts';
import { type Foreign, readForeign } from './foreign-error.ts';

// On the side, not on the errors: the caller's abort reason and a SyntaxError of `json()` stay what
// they are, and still say what they meant.
const reports = /* @__PURE__ */ createSlot<object, FailureReport>();

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
    return reports.get(error as object) ?? readForeign(error as Foreign, nowMs, reports.get);
  } catch {
    // Not an object, or a getter of somebody else's error threw: then nothing is known.
    return { failure: failures.error };
  }
}

/** An error of ours that no request rejects with, as the client of the latest request makes errors. */
export const toClientError = (
  error: unknown,
  sent: { readonly toClientError?: ErrorMaker | undefined } | undefined,
): unknown => sent?.toClientError?.(error) ?? error;
