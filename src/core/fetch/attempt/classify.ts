import type { RateLimitCode } from '../../headers/rate-limit.ts';
import { codeOf } from '../../lib/input/made-by.ts';
import { isSafeMethod } from '../../policy/operation.ts';
import {
  type AnswerFailure,
  classifyAnswer,
  type Outcome,
  type Processed,
} from '../../policy/outcome.ts';
import type { SteadyRequest } from '../request.ts';
import type { Attempt } from './attempt.ts';
import { isFramed, isJson, mediaType } from './body/media-type.ts';

/** The outcome of a good answer. */
export const succeeded = (status: number): Outcome => ({ kind: 'ok', status, processed: 'yes' });

/** The failure that the status and the headers of an answer mean; undefined for success. */
export function classifyStatus(
  { context, request, effect }: Attempt,
  response: Response,
): AnswerFailure | undefined {
  const { operation, method, name, step, api } = request;
  const { status } = response;
  // An opaque answer has status 0, and cannot be read.
  if (status === 0) return undefined;
  if (response.ok) {
    // Something in between may have answered, so it is unknown whether the server did it.
    return isUnexpected(response, request)
      ? { kind: 'body', status, processed: 'unknown' }
      : undefined;
  }
  const isGone = method === 'DELETE' && (status === 404 || status === 410);
  if (isGone && operation.effects.mayBeDone({ request: name, key: step?.key }, effect))
    return undefined;
  const { headers } = response;
  const now = context.clock.now();
  const answer = { status, header: (field: string) => headers.get(field) };
  const failure = classifyAnswer(answer, now, false);
  const limits = codeOf<RateLimitCode>(api?.rateLimit ?? context.rateLimit);
  return limits?.readRefusal(failure, headers, now) ?? failure;
}

/** The content types that servers send when they declare none. Only the body can tell. */
const undecided = ['', 'text/plain', 'application/octet-stream', 'binary/octet-stream'];

/**
 * Whether an answer is declared as something else than was requested: the login page of a captive portal, the page of a
 * proxy, or the fallback of a single-page app. Also true for a write that was redirected to a page, as after the end of a
 * session: its server may never have seen it.
 */
function isUnexpected(response: Response, { expect, method }: SteadyRequest): boolean {
  const type = mediaType(response);
  if (expect !== 'json') {
    // Without a type, only the body can tell.
    const mayBePage = isPage(response) || (type === '' && !!response.body);
    return !expect && response.redirected && !isSafeMethod(method) && mayBePage;
  }
  // The body last, because reading the property creates a stream.
  return !undecided.includes(type) && !isJson(type) && !!response.body;
}

/** Whether an answer is an HTML page. If the header was sent twice, the last value counts. */
export const isPage = (response: Response): boolean =>
  /^(.*,\s*)?(text\/html|application\/xhtml\+xml)$/.test(mediaType(response));

/**
 * Whether the headers of a 2xx show that the request was done. gRPC-web and the streams of Connect say so only at
 * their end.
 */
export const processedAtHeaders = (response: Response): Processed =>
  isFramed(response) ? 'unknown' : 'yes';

/** Whether an answer declares JSON. Then it came from the API itself, even if it cannot be parsed. */
export function isJsonAnswer(response: Response): boolean {
  return isJson(mediaType(response));
}

/** The content type, as a message names it. */
export const shownType = (response: Response): string => mediaType(response) || 'nothing';
