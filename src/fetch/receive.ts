import type { Failure } from '../policy/outcome.ts';
import { type Call, endCall, tell } from './call.ts';
import { fail, note } from './call-failure.ts';
import { succeeded } from './classify-response.ts';
import { HttpError, UnexpectedContentError } from './errors.ts';
import { shownType } from './expected-content.ts';
import { guardResponse } from './guarded-response.ts';
import { hintAtCors } from './hint-at-cors.ts';
import { weightOf } from './is-in-doubt.ts';
import { readAhead } from './read-ahead.ts';
import { setLimit } from './time-limit.ts';

/**
 * Hands out an answer whose body is watched.
 *
 * @throws HttpError when it says that the request failed, unless another client reads its status.
 */
export function accept(call: Call, response: Response, failure: Failure | undefined): Response {
  const { context, facts, idleMs, keyed, limit } = call;
  const { live, method, name, isRaw } = facts;
  const { status } = response;
  if (idleMs) setLimit(call, limit);
  // Nothing more comes. `body` is asked for of failures only, for it costs the making of a stream.
  if (method === 'HEAD' || (failure ? response.body === null : [0, 204, 205].includes(status)))
    endCall(call);
  else if (failure) void readAhead(call, response);
  if (status !== 0)
    guardResponse(response, { call, original: response, answer: failure, shared: { open: 1 } });
  // No timer ends it: where nobody reads its body either, the garbage collector says so.
  if (call.caller && limit.dueAt === Infinity) endWhenUnread(call, response);
  if (failure) {
    if (process.env.NODE_ENV !== 'production') hintAtCors(context.operations, facts.url, response);
    if (isRaw && failure.kind === 'http') return note(call, response, failure, response);
    const answered = `${status} ${response.statusText}`.trimEnd();
    throw failure.kind === 'http'
      ? fail(call, HttpError, answered, failure, { response })
      : fail(call, UnexpectedContentError, `${answered}, ${isNotJson(response)}`, failure, {
          response,
        });
  }
  keyed?.succeed();
  live.raw = undefined;
  // Whatever fails after it does not undo it.
  if (weightOf(facts)) (live.unsure ??= new Set()).add(name);
  tell(call, succeeded(status), undefined, response);
  return response;
}

const isNotJson = (response: Response): string =>
  `with content type ${shownType(response)} where JSON was expected`;

let unread: FinalizationRegistry<Call> | undefined;

/** Its readers hold the answer: once that is gone, nothing more is wanted. */
function endWhenUnread(call: Call, response: Response): void {
  unread ??= new FinalizationRegistry(endCall);
  unread.register(response, call);
}
