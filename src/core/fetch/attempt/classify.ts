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

/** The failure that the status and the headers of an answer show; undefined when they are good news. */
export function classifyStatus(
  { context, request, effect }: Attempt,
  response: Response,
): AnswerFailure | undefined {
  const { operation, method, name, step, api } = request;
  const { status } = response;
  // An opaque answer has status 0, and nothing that could be read.
  if (status === 0) return undefined;
  if (response.ok) {
    // Something in between may have answered: the server may or may not have done it.
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

/** The content types of servers that declare none: only the body itself can tell. */
const undecided = ['', 'text/plain', 'application/octet-stream', 'binary/octet-stream'];

/**
 * Whether an answer says that it is something else than was asked for: the login page of a captive portal, the
 * page of a proxy, the fallback of a single-page app. And whether a write was redirected to a page, as by a
 * session that has expired: its server may never have seen it.
 */
function isUnexpected(response: Response, { expect, method }: SteadyRequest): boolean {
  const type = mediaType(response);
  if (expect !== 'json') {
    // Without a type, the body itself tells.
    const mayBePage = isPage(response) || (type === '' && !!response.body);
    return !expect && response.redirected && !isSafeMethod(method) && mayBePage;
  }
  // The body last: to ask for it costs the making of a stream.
  return !undecided.includes(type) && !isJson(type) && !!response.body;
}

/** Of a field that was sent twice, the last one counts. */
export const isPage = (response: Response): boolean =>
  /^(.*,\s*)?(text\/html|application\/xhtml\+xml)$/.test(mediaType(response));

/**
 * Whether the headers of a 2xx show that the request was done. gRPC-web and the streams of Connect say so only at
 * their end.
 */
export const processedAtHeaders = (response: Response): Processed =>
  isFramed(response) ? 'unknown' : 'yes';

/** Whether an answer says that it is JSON: then, also what cannot be parsed came from whom it was asked of. */
export function isJsonAnswer(response: Response): boolean {
  return isJson(mediaType(response));
}

/** The content type, as a message names it. */
export const shownType = (response: Response): string => mediaType(response) || 'nothing';
