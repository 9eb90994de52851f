import type { Failure, Processed } from './outcome.ts';
import { parseRetryAfter } from './retry-after.ts';

/** The answer, as far as classification reads it. */
export interface Answer {
  readonly status: number;
  /** Reads a response header by name, case-insensitively; null or undefined when it is not readable. */
  readonly header: (name: string) => string | null | undefined;
}

/** An answer outside 2xx. */
export type HttpFailure = Extract<Failure, { readonly kind: 'http' }>;

/**
 * The failure that an answer outside 2xx is.
 *
 * `processed` is `no` only where the server says that it did not do the work: a 4xx rejects the
 * request, and 501 and 505 refuse it. A 408 means an incomplete request (RFC 9110 §15.5.9), but
 * proxies answer it for complete ones too; a 5xx proves nothing either way, a 503 included.
 */
export function classifyAnswer(answer: Answer, nowMs: number, inProgress: boolean): HttpFailure {
  return {
    kind: 'http',
    status: answer.status,
    retryAfterMs: parseRetryAfter(answer.header('retry-after'), {
      nowMs,
      dateHeader: answer.header('date'),
    }),
    inProgress,
    processed: inProgress ? 'unknown' : processedBy(answer.status),
  };
}

function processedBy(status: number): Processed {
  const refused =
    (status >= 400 && status < 500 && status !== 408) || status === 501 || status === 505;
  return refused ? 'no' : 'unknown';
}
