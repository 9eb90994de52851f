import { inDevelopment } from '../../lib/development.ts';
import { addProblem, HttpError, UnexpectedContentError } from '../../operation/errors.ts';
import { type AnswerFailure, failures, type HttpFailure } from '../../policy/outcome.ts';
import { withLimit } from '../../lib/timer.ts';
import { isProblem, type Problem, readProblem } from '../../operation/parts/problem.ts';
import { endExtensions } from '../extension.ts';
import { mistake } from '../init.ts';
import type { SteadyRequest } from '../request.ts';
import type { Attempt } from './attempt.ts';
import { shownType, succeeded, isPage } from './classify.ts';
import { fail, hintAtCors, recordFailure } from './failure.ts';
import { findGuard, type Guard, guardAnswer } from './guard.ts';
import { isSafeMethod } from '../../policy/operation.ts';

/**
 * Guards the answer of a transport. An answer that a test makes by hand needs only a status, `ok` or a reader.
 *
 * @throws TypeError if the transport has returned no answer.
 */
export function receiveAnswer(attempt: Attempt, given: unknown): Response {
  const answer = Object(given) as Partial<Response>;
  const { status } = answer;
  const isMock = process.env.NODE_ENV !== 'production' && status === undefined && isAnswer(answer);
  if (isMock || typeof status === 'number') return guardAnswer(attempt, given as Response);
  attempt.end();
  const rule = inDevelopment(() => 'resolved with what is no Response, and must with one');
  throw recordFailure(attempt, mistake('createSteadfetch: fetch', rule), failures.error);
}

const isAnswer = ({ ok, json, text }: Partial<Response>): boolean =>
  ok !== undefined || !!json || !!text;

/**
 * Hands out an answer.
 *
 * @throws HttpError if the request has failed, unless another client reads the status.
 */
export function accept(
  attempt: Attempt,
  response: Response,
  failure: AnswerFailure | undefined,
): Response {
  const { context, request } = attempt;
  const { status } = response;
  attempt.markFailed(failure);
  followBody(attempt, response);
  // The body is timed separately, while it is read.
  request.end();
  if (!failure) {
    endExtensions(attempt, succeeded(status));
    const { operation } = request;
    operation.errors.recordRaw();
    if (!operation.isLone) operation.recordAnswer(nameOf(attempt));
    attempt.recordOutcome(succeeded(status), undefined, response);
    return response;
  }
  inDevelopment(() => hintAtCors(context.operations, request.url, response));
  if (request.isRaw && failure.kind === 'http')
    return recordFailure(attempt, response, failure, response);
  throw refuse(attempt, response, failure);
}

/** Ends the attempt with the body of its answer: at once, when it is read, or when nothing can read it any more. */
function followBody(attempt: Attempt, response: Response): void {
  const { failure, line, request } = attempt;
  const { isRaw, method, signal } = request;
  const guard = findGuard(response);
  // Whether all of it is there, or cannot be read. React Native has no streams, so its bodies are always complete.
  const isWhole = failure ? !guard?.isStreaming : [204, 205].includes(response.status);
  if (!guard || isWhole || method === 'HEAD') attempt.end();
  else if (failure && !isRaw) void keepBody(attempt, guard);
  else if (signal || line) void endWhenUnread(attempt, guard);
}

/** The error of an answer that has failed. */
function refuse(attempt: Attempt, response: Response, failure: AnswerFailure): Error {
  const { status, statusText } = response;
  const answered = `The server answered ${status} ${statusText}`.trimEnd();
  if (failure.kind === 'http') {
    // The `outcomes` of its API may have given it another status.
    const read = failure.status === status ? '' : `, classified as ${failure.status}`;
    return fail(attempt, HttpError, answered + read, failure, { response });
  }
  const why = attempt.request.expect === 'json' ? 'where JSON was expected' : 'after a redirect';
  const what = `${answered}, with content type ${shownType(response)} ${why}`;
  return fail(attempt, UnexpectedContentError, what, failure, { response });
}

/** Identifies a request. All requests of a GraphQL client have one URL, and differ in their bodies. */
const nameOf = ({ request, init: { body } }: Attempt): string =>
  typeof body === 'string' ? `${request.name} ${body.slice(0, 10_000)}` : request.name;

let unread: FinalizationRegistry<Attempt> | undefined;
const turn = Promise.resolve();

/**
 * Ends the attempt when its answer is garbage-collected unread. Most answers are read within a few microtasks, and the
 * registry is expensive for the garbage collector, so it is used only for the others.
 */
async function endWhenUnread(attempt: Attempt, guard: Guard): Promise<void> {
  for (let turns = 0; turns < 8; turns++) {
    await turn;
    if (guard.isRead) return;
  }
  // React Native has no FinalizationRegistry.
  if (typeof FinalizationRegistry === 'undefined') return;
  unread ??= new FinalizationRegistry((lost) => lost.end());
  unread.register(guard.response, attempt);
}

/** How long an error waits for the Problem Details of its answer. Usually they come with the headers. */
const problemMs = 500;

/** Whether a failed answer has Problem Details that we read. Another client reads its answers itself. */
export const hasProblem = (
  { isRaw }: SteadyRequest,
  response: Response,
  failure: AnswerFailure | undefined,
): failure is HttpFailure => !isRaw && failure?.kind === 'http' && isProblem(response);

/** The error of an answer with Problem Details. For its origin the attempt ends with the headers, before the body is read. */
export async function refuseWithProblem(
  attempt: Attempt,
  response: Response,
  failure: AnswerFailure,
): Promise<unknown> {
  const reading = awaitProblem(attempt, response);
  try {
    return accept(attempt, response, failure);
  } catch (error) {
    return addProblem(error as HttpError, await reading);
  }
}

/** Reads the Problem Details of a failed answer; undefined if it has none. Never rejects. */
async function awaitProblem(attempt: Attempt, response: Response): Promise<Problem | undefined> {
  const read = async (): Promise<Problem | undefined> => {
    const guard = findGuard(response);
    const isSmall = !guard?.isStreaming || (await guard.readAhead(mostBytes));
    return isSmall ? readProblem(await response.clone().text()) : undefined;
  };
  return withLimit(attempt.context, read, () => undefined, problemMs).catch(() => undefined);
}

/** A body up to this size is kept, so that it can be read at any time. Of a longer one the beginning decides what it is. */
const mostBytes = 65_536;

/**
 * Reads the body of a failure as it arrives. So a small one can be read at any later time, and its connection is free. A
 * larger one must be read on before the time limit for silence is over. The answer of another client stays native,
 * because a service worker may pass it on.
 */
async function keepBody(attempt: Attempt, guard: Guard): Promise<void> {
  try {
    if (await guard.readAhead(mostBytes)) attempt.end();
    // A reader of the app has its own time limit, and ends the attempt.
    else if (!guard.isTaken) attempt.silence.awaitReader();
  } catch {
    // The readers of the app report it.
  }
}

/** JSON's white space (RFC 8259 §2), and the bytes of a byte order mark. */
const blanks: readonly number[] = [0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf];

/** Whether a text is empty, or JSON. */
function isJsonText(text: string): boolean {
  try {
    return !/\S/.test(text) || JSON.parse(text) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Whether an answer is what was requested, although its headers do not say so: JSON or empty with PHP's default content
 * type or, after a redirect, no page. It reads no more than it needs: of a page, the first byte. If the body breaks off
 * meanwhile, its reader reports that.
 */
export async function isExpectedBody(attempt: Attempt, response: Response): Promise<boolean> {
  const { context, request, init } = attempt;
  // The login page of an expired session: the server may never have seen the write.
  if (response.redirected && !isSafeMethod(request.method) && isPage(response)) return false;
  const isJson = request.expect === 'json';
  const isText = (text: string): boolean => (isJson ? isJsonText(text) : !/^\s*</.test(text));
  const mayBegin = (byte: number): boolean =>
    (isJson ? /[{["\-\dtfn]/ : /[^<]/).test(String.fromCharCode(byte));
  if (context.client) {
    // Another client has read the body.
    const data = context.client.readData(init);
    return typeof data === 'string' ? isText(data) : data !== undefined;
  }
  const guard = findGuard(response) as Guard;
  let first: number | undefined;
  const isPlain = (part: Uint8Array): boolean => {
    first ??= part.find((byte) => !blanks.includes(byte));
    return first !== undefined && !mayBegin(first);
  };
  try {
    // Without streams, as in React Native, all of the body is there.
    const isWhole = !guard.isStreaming || (await guard.readAhead(mostBytes, isPlain));
    if (isWhole) return isText(await response.clone().text());
    return first === undefined || mayBegin(first);
  } catch {
    return true;
  }
}
