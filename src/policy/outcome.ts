import { parseRetryAfter } from '../headers/retry-after.ts';

/**
 * Whether the server did what the attempt asked for. `unknown` is a value of its own: the request may
 * have been processed although no final answer came back.
 */
export type Processed = 'no' | 'yes' | 'unknown';

/** Why an attempt waits before it is sent. */
export type PauseReason =
  /** The device is offline, whatever the origin. */
  | 'offline'
  /** The origin does not answer; a probe goes out from time to time. */
  | 'server-down'
  /** The origin has asked for a pause, or its rate limit allows no more requests. */
  | 'rate-limited'
  /** As many attempts are in flight as the limit allows, or others go first. */
  | 'queued';

/**
 * What a failed attempt showed, or the failure that a mutation has ended with.
 *
 * | kind | meaning | was it processed? |
 * |---|---|---|
 * | `http` | an answer came with a status that is not 2xx | by its status |
 * | `network` | the attempt was rejected before any header: refused, reset, DNS, CORS, offline | unknown |
 * | `timeout` | its time limit ended it, or one of the caller's (`AbortSignal.timeout`), before the headers or within the body | unknown; by its status |
 * | `body` | a 2xx answer began, and its body broke, could not be read, or is not what was asked for | yes; unknown where a proxy or a portal may have answered |
 * | `aborted` | the caller aborted, or the user cancelled | unknown; no if it was not sent |
 * | `invalid` | the request was not sent: a programming error, a file that cannot be read, the browser or an interceptor refused it | no |
 * | `paused-too-long` | it was not sent: it was paused for as long as it may be | no; unknown if an earlier attempt was sent |
 * | `expired` | it was not sent again: its idempotency key is older than its API keeps it | unknown |
 * | `age-unknown` | it was not sent again: the clock was set back since another page made its idempotency key, so its age is not known | unknown |
 * | `error` | something else threw inside the operation, and nothing is known about it | unknown |
 *
 * The error that an operation ends with covers all its requests: `no` only if surely none of them was
 * processed. That of a mutation says `unknown` otherwise.
 */
export type Failure = Cause & {
  /** Whether the server processed the request. */
  readonly processed: Processed;
};

type Cause =
  | {
      readonly kind: 'http';
      readonly status: number;
      /** The server's Retry-After, in milliseconds from receipt; undefined when absent, unreadable or malformed. */
      readonly retryAfterMs: number | undefined;
      /** Whether it is a 409 saying that the first request with this idempotency key is still running. */
      readonly inProgress: boolean;
      /** What the API says about sending the request again, if its profile reads that. */
      readonly shouldRetry?: boolean | undefined;
      /** What its API calls it, where that is read: the name of a status code of gRPC. */
      readonly code?: string | undefined;
    }
  | { readonly kind: 'timeout'; readonly phase: 'headers' | 'body' }
  | { readonly kind: 'body'; readonly status: number }
  | {
      readonly kind: 'paused-too-long';
      /** What it waited for. */
      readonly reason: PauseReason;
      /** When the next probe goes out, or the origin takes requests again, in epoch milliseconds; undefined when that is not known. */
      readonly retryAt: number | undefined;
    }
  | { readonly kind: 'network' | 'aborted' | 'invalid' | 'expired' | 'age-unknown' | 'error' };

/** What some kinds of outcome carry, and others do not. */
export interface FailureDetails {
  readonly kind: string;
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly shouldRetry?: boolean | undefined;
  readonly retryAt?: number | undefined;
}

/** What an attempt showed: success, or a {@link Failure}. */
export type Outcome =
  | { readonly kind: 'ok'; readonly status: number; readonly processed: 'yes' }
  | Failure;

/** The failures that carry no data of their own. */
export const failures: Readonly<Record<'network' | 'aborted' | 'invalid' | 'error', Failure>> = {
  network: { kind: 'network', processed: 'unknown' },
  aborted: { kind: 'aborted', processed: 'unknown' },
  invalid: { kind: 'invalid', processed: 'no' },
  error: { kind: 'error', processed: 'unknown' },
};

/** The parts of an answer that classification reads. */
export interface Answer {
  readonly status: number;
  /** Reads a response header by name, case-insensitively; null or undefined when it is not readable. */
  readonly header: (name: string) => string | null | undefined;
}

/** An answer outside 2xx. */
export type HttpFailure = Extract<Failure, { readonly kind: 'http' }>;

/** What an answer shows that has failed: or one that is good, and not what was asked for. */
export type AnswerFailure = Extract<Failure, { readonly kind: 'http' | 'body' }>;

/**
 * Classifies an answer outside 2xx.
 *
 * `processed` is `no` only where the server says that it did not do the work: a 4xx rejects the
 * request, and 501 and 505 refuse it. A 408 means an incomplete request (RFC 9110 §15.5.9), but
 * proxies answer it for complete ones too; a 5xx proves nothing either way, a 503 included.
 */
export function classifyAnswer(answer: Answer, nowMs: number, inProgress: boolean): HttpFailure {
  return {
    kind: 'http',
    status: answer.status,
    retryAfterMs: readRetryAfter(answer, nowMs),
    inProgress,
    processed: inProgress ? 'unknown' : processedBy(answer.status),
  };
}

/**
 * Retry-After (RFC 9110 §10.2.3) and, more exact where they are sent, two headers like it, in milliseconds:
 * those that `throttlingRetryStrategy` of Azure's SDK reads, of which OpenAI sends the first one.
 */
function readRetryAfter({ header }: Answer, nowMs: number): number | undefined {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const value = header(name);
    if (value && /^\d{1,15}(\.\d+)?$/.test(value)) return Math.ceil(Number(value));
  }
  const value = header('retry-after');
  return value ? parseRetryAfter(value, { nowMs, dateHeader: header('date') }) : undefined;
}

/**
 * Whether a status is that of a server in trouble, or of a gateway that does not reach it: also
 * Cloudflare's 520 to 524 and 530, and 529, which APIs send when they are overloaded.
 * @see https://docs.anthropic.com/en/api/errors
 * @see https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/
 */
export function isUnavailable(status: number): boolean {
  return [502, 503, 504, 520, 521, 522, 523, 524, 529, 530].includes(status);
}

/** Whether a server has refused a request for its rate limit. RESOURCE_EXHAUSTED of gRPC may mean others, too. */
export function isRefusal(outcome: Outcome): boolean {
  return outcome.kind === 'http' && outcome.status === 429 && outcome.code === undefined;
}

function processedBy(status: number): Processed {
  const refused =
    (status >= 400 && status < 500 && status !== 408) || status === 501 || status === 505;
  return refused ? 'no' : 'unknown';
}
