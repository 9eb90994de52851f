import { parseRetryAfter } from '../headers/retry-after.ts';

/**
 * Whether the server processed the request. `unknown` is a value of its own: the request may have been
 * processed although no final answer came back.
 */
export type Processed = 'no' | 'yes' | 'unknown';

/** Why an attempt waits before it is sent. */
export type PauseReason =
  /** The device is offline, whatever the origin. */
  | 'offline'
  /** The origin does not answer. A probe is sent from time to time. */
  | 'server-down'
  /** The origin asked for a pause, or its rate limit allows no more requests. */
  | 'rate-limited'
  /** The concurrency limit is reached, or other requests go first. */
  | 'queued';

/**
 * The outcome of a failed attempt, or the failure that a mutation ended with.
 *
 * | kind | meaning | was it processed? |
 * |---|---|---|
 * | `http` | an answer came with a status that is not 2xx | by its status |
 * | `network` | the attempt was rejected before any header: refused, reset, DNS, CORS, offline | unknown |
 * | `timeout` | its time limit ended it, or one of the caller's (`AbortSignal.timeout`), before the headers or within the body | unknown; by its status |
 * | `body` | a 2xx answer began, and its body broke, could not be read, or is not what was asked for | yes; unknown where a proxy or a portal may have answered |
 * | `aborted` | the caller aborted, or the user cancelled | unknown; no if it was not sent |
 * | `invalid` | the request was not sent: a programming error, a file that cannot be read, the browser or an interceptor refused it | no |
 * | `paused-too-long` | it was not sent: it was paused for as long as it may be, before its first attempt | no; unknown if a request of it was sent |
 * | `expired` | it was not sent again: its idempotency key is older than its API keeps it | unknown |
 * | `age-unknown` | it was not sent again: the clock was set back since another page made its idempotency key, so its age is not known | unknown |
 * | `superseded` | it was not sent, or not again: a later write to its URL was, which it would undo | no; unknown if an earlier attempt was sent |
 * | `error` | something else threw inside the operation, and nothing is known about it | unknown |
 *
 * The error that an operation ends with covers all its requests: `no` only if certainly none was processed.
 * For a mutation it is `unknown` otherwise.
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
      /** Whether the API says that the request may be sent again, if its profile reads that. */
      readonly shouldRetry?: boolean | undefined;
      /** The API's own name for it, if its profile reads one: a gRPC status code. */
      readonly code?: string | undefined;
    }
  | { readonly kind: 'timeout'; readonly phase: 'headers' | 'body' }
  | { readonly kind: 'body'; readonly status: number }
  | {
      readonly kind: 'paused-too-long';
      /** The reason for the pause. */
      readonly reason: PauseReason;
      /**
       * When the next probe is sent, or the origin accepts requests again, in epoch milliseconds; undefined
       * when not known.
       */
      readonly retryAt: number | undefined;
    }
  | {
      readonly kind:
        | 'network'
        | 'aborted'
        | 'invalid'
        | 'expired'
        | 'age-unknown'
        | 'superseded'
        | 'error';
    };

/** The fields that only some kinds of outcome have. */
export interface FailureDetails {
  readonly kind: string;
  readonly status?: number;
  readonly retryAfterMs?: number | undefined;
  readonly shouldRetry?: boolean | undefined;
  readonly retryAt?: number | undefined;
}

/** The outcome of an attempt: success, or a {@link Failure}. */
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

/** A failed answer, or a 2xx whose content is not what was requested. */
export type AnswerFailure = Extract<Failure, { readonly kind: 'http' | 'body' }>;

/**
 * Classifies an answer outside 2xx.
 *
 * `processed` is `no` only if the server says that it did not do the work: a 4xx rejects the request, and 501
 * and 505 refuse it. A 408 means an incomplete request (RFC 9110 §15.5.9), but proxies send it for complete
 * ones too. A 5xx proves nothing, not even a 503.
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
 * Reads Retry-After (RFC 9110 §10.2.3), or one of two more exact headers, in milliseconds. Azure's SDK reads
 * both of these (`throttlingRetryStrategy`); OpenAI sends the first.
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
 * Whether a status means a server in trouble, or a gateway that cannot reach it. Includes Cloudflare's 520 to
 * 524 and 530, and the 529 of overloaded APIs.
 * @see https://docs.anthropic.com/en/api/errors
 * @see https://developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-5xx-errors/
 */
export function isUnavailable(status: number): boolean {
  // 502 to 504, and those of gateways: 520 to 524, 529 and 530.
  return /^5(0[2-4]|2[0-49]|30)$/.test(`${status}`);
}

/**
 * Whether a status means that a server has failed, a gateway included. An unknown status of the class is treated as 500
 * (RFC 9110 §15). 501 and 505 refuse the request, and a 511 is a captive portal's.
 */
export function isServerError(status: number): boolean {
  return /^5(?!0[15]|11)\d\d$/.test(`${status}`);
}

/**
 * Whether a server refused a request for its rate limit. gRPC's RESOURCE_EXHAUSTED does not count: it may
 * mean the quota of another user.
 */
export function isRefusal(outcome: Outcome): boolean {
  return outcome.kind === 'http' && outcome.status === 429 && outcome.code === undefined;
}

function processedBy(status: number): Processed {
  const refused =
    (status >= 400 && status < 500 && status !== 408) || status === 501 || status === 505;
  return refused ? 'no' : 'unknown';
}
