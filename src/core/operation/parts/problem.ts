import { headerOf } from '../error-info.ts';
import type { ForeignAnswer } from '../facts.ts';

/** The body of type `application/problem+json` in which an API describes a failure: Problem Details, RFC 9457. */
export interface Problem {
  /** A URI that names the kind of problem. @default 'about:blank' */
  readonly type: string;
  /** The kind of problem in a few words, the same each time. */
  readonly title: string | undefined;
  /** The status code, as the API has given it. */
  readonly status: number | undefined;
  /** A description of this occurrence. */
  readonly detail: string | undefined;
  /** A URI that names this occurrence. */
  readonly instance: string | undefined;
  /** All its other members. */
  readonly extensions: Readonly<Record<string, unknown>>;
}

/** Whether an answer says that its body has Problem Details. */
export const isProblem = (answer: object): boolean =>
  /^\s*application\/problem\+json\s*(;|$)/i.test(headerOf(answer, 'content-type') ?? '');

/** Reads Problem Details; a member of another type than its own counts as absent (RFC 9457 §3.1). Never throws. */
export function readProblem(body: unknown): Problem | undefined {
  try {
    const value: unknown = typeof body === 'string' ? JSON.parse(body) : body;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const { type, title, status, detail, instance, ...extensions } = value as Record<
      string,
      unknown
    >;
    const textOf = (member: unknown): string | undefined =>
      typeof member === 'string' ? member : undefined;
    return {
      type: textOf(type) ?? 'about:blank',
      title: textOf(title),
      status: typeof status === 'number' ? status : undefined,
      detail: textOf(detail),
      instance: textOf(instance),
      extensions,
    };
  } catch {
    // No JSON, or a getter of another client's body threw.
    return undefined;
  }
}

/** An error of another client, as far as it has the body that it has read. */
interface ForeignError {
  readonly problem?: Problem;
  /** axios */
  readonly response?: ForeignAnswer & { readonly data?: unknown };
  /** ofetch, ky */
  readonly data?: unknown;
  readonly cause?: unknown;
}

/** However long a chain of causes is, or whether it is a ring. */
const maxCauses = 5;

/**
 * Reads the Problem Details (RFC 9457) of an `HttpError`, or of an error of axios, ky or ofetch, which have read the
 * body. Never throws.
 *
 * @example
 * ```ts
 * import { problemOf } from 'steadfetch';
 *
 * const isSoldOut = (error: unknown): boolean =>
 *   problemOf(error)?.type === 'https://shop.example/problems/sold-out';
 * ```
 */
export function problemOf(error: unknown): Problem | undefined {
  try {
    let at = error as ForeignError | undefined;
    for (let depth = 0; typeof at === 'object' && at !== null && depth < maxCauses; depth++) {
      const { problem, response, data } = at;
      if (problem) return problem;
      if (response && isProblem(response)) return readProblem(response.data ?? data);
      at = at.cause as ForeignError | undefined;
    }
  } catch {
    // A getter of another client's error threw.
  }
  return undefined;
}
