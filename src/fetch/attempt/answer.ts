import { HttpError, UnexpectedContentError } from '../../operation/errors.ts';
import { setLimit } from '../../operation/time-limit.ts';
import { type AnswerFailure, failures } from '../../policy/outcome.ts';
import { shownType, succeeded } from './classify.ts';
import { fail, hintAtCors, note } from './failure.ts';
import {
  comesInParts,
  guardAnswer,
  hasBody,
  isRead,
  isReadWhole,
  readUntil,
  recordFailure,
} from './guard.ts';
import { type Call, endCall, tell } from './in-flight.ts';
import { mistake } from './request.ts';

/**
 * The answer of a transport, guarded. One that tests make by hand needs no more than a status, `ok` or a
 * reader.
 *
 * @throws TypeError when a transport has answered with something else.
 */
export function receiveAnswer(call: Call, given: unknown): Response {
  const { status, ok, json, text } = Object(given) as Partial<Response>;
  if (status !== undefined ? typeof status === 'number' : ok !== undefined || json || text)
    return guardAnswer(call, given as Response);
  endCall(call);
  const rule =
    process.env.NODE_ENV !== 'production' && 'resolved with what is no Response, and must with one';
  throw note(call, mistake('createSteadfetch: fetch', rule), failures.error);
}

/**
 * Hands out an answer.
 *
 * @throws HttpError when it says that the request failed, unless another client reads its status.
 */
export function accept(
  call: Call,
  response: Response,
  failure: AnswerFailure | undefined,
): Response {
  const { context, facts, keyed } = call;
  const { operation, method, isRaw } = facts;
  const { status } = response;
  recordFailure(response, failure);
  setLimit(call, call.limit);
  // Nothing more comes.
  if (method === 'HEAD' || (failure ? !hasBody(response) : [0, 204, 205].includes(status)))
    endCall(call);
  else if (failure) void readAhead(call, response);
  // Only its body is under way, and that is timed while it is read.
  call.endRequest?.();
  call.endRequest = undefined;
  if (call.caller) void endWhenUnread(call, response);
  if (failure) {
    if (process.env.NODE_ENV !== 'production') hintAtCors(context.operations, facts.url, response);
    const isHttp = failure.kind === 'http';
    if (isRaw && isHttp) return note(call, response, failure, response);
    // Its API may have read another status from it.
    const read = failure.status === status ? '' : `, classified as ${failure.status}`;
    const answered = `${status} ${response.statusText}`.trimEnd() + read;
    const why = facts.expect === 'json' ? 'where JSON was expected' : 'after a redirect';
    const what = isHttp ? '' : `, with content type ${shownType(response)} ${why}`;
    const Type = isHttp ? HttpError : UnexpectedContentError;
    throw fail(call, Type, answered + what, failure, { response });
  }
  keyed?.succeed();
  operation.errors.recordRaw();
  tell(call, succeeded(status), undefined, response);
  return response;
}

let unread: FinalizationRegistry<Call> | undefined;

/**
 * Its readers hold the answer: once that is gone, nothing more is wanted. Most are read within a few
 * microtasks, and a registry costs the garbage collector more than all else costs here: it is asked for the
 * others only.
 */
async function endWhenUnread(call: Call, response: Response): Promise<void> {
  for (let turn = 0; turn < 8; turn++) await Promise.resolve();
  // There is none in React Native.
  if (isReadWhole(response) || typeof FinalizationRegistry === 'undefined') return;
  unread ??= new FinalizationRegistry(endCall);
  unread.register(response, call);
}

/** An error's body up to this size is kept, so that it can be read at any time. */
const mostBytes = 65_536;

/**
 * Reads the body of a failure while it comes, from a copy: a small one is in when it is asked for, however
 * much later that is, and its connection is free. The rest of a larger one has the limit of a silence until
 * it is read.
 */
async function readAhead(call: Call, response: Response): Promise<void> {
  if (response.bodyUsed) return;
  // React Native has no streams: all of it is there.
  if (!comesInParts(response)) return endCall(call);
  let left = mostBytes;
  let isLarge = false;
  try {
    await readUntil(response.clone(), ({ byteLength }) => (isLarge = (left -= byteLength) < 0));
    if (isLarge && !isRead(response)) setLimit(call, call.limit, call.idleMs);
  } catch {
    // Whoever reads the answer itself is told.
  }
}
