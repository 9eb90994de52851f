import { createSlot } from '../../lib/slot.ts';
import { copyReport } from '../../operation/error-info.ts';
import { HttpError, UnexpectedContentError } from '../../operation/errors.ts';
import { noLimit, setLimit } from '../../operation/time-limit.ts';
import type { AnswerFailure, Failure } from '../../policy/outcome.ts';
import { shownType, succeeded } from './classify.ts';
import { fail, failed, hintAtCors, note, notParsed } from './failure.ts';
import { type Call, endCall, tell, untilStopped } from './in-flight.ts';

/**
 * Hands out an answer whose body is watched.
 *
 * @throws HttpError when it says that the request failed, unless another client reads its status.
 */
export function accept(call: Call, given: Response, failure: AnswerFailure | undefined): Response {
  const { context, facts, idleMs, keyed, limit } = call;
  const response = thaw(given);
  const { operation, method, isRaw } = facts;
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
    const isHttp = failure.kind === 'http';
    if (isRaw && isHttp) return note(call, response, failure, response);
    // Its API may have read another status from it.
    const read = failure.status === status ? '' : `, classified as ${failure.status}`;
    const answered = `${status} ${response.statusText}`.trimEnd() + read;
    const what = isHttp ? '' : `, with content type ${shownType(response)} where JSON was expected`;
    const Type = isHttp ? HttpError : UnexpectedContentError;
    throw fail(call, Type, answered + what, failure, { response });
  }
  keyed?.succeed();
  operation.errors.recordRaw();
  tell(call, succeeded(status), undefined, response);
  return response;
}

/** The answer itself or, where a transport has frozen it, a copy that can be watched, if there can be one. */
function thaw(response: Response): Response {
  if (Object.isExtensible(response)) return response;
  try {
    const copy = response.clone();
    // Otherwise all of the body would be kept for it.
    response.body?.cancel().catch(() => {});
    return copy;
  } catch {
    // Read already, or made by hand.
    return response;
  }
}

let unread: FinalizationRegistry<Call> | undefined;

/** Its readers hold the answer: once that is gone, nothing more is wanted. */
function endWhenUnread(call: Call, response: Response): void {
  // There is none in React Native.
  if (typeof FinalizationRegistry === 'undefined') return;
  unread ??= new FinalizationRegistry(endCall);
  unread.register(response, call);
}

/** An error's body up to this size is kept, so that it can be read at any time. */
const mostBytes = 65_536;

/**
 * Reads the body of a failure while it comes, from a copy: what is small is in when somebody asks,
 * however much later that is, and its connection is free. The rest of a larger one comes as it is
 * read, within the time limit.
 */
async function readAhead(call: Call, response: Response): Promise<void> {
  if (response.bodyUsed || response.body?.locked) return;
  const reader = response.clone().body?.getReader();
  // React Native has no streams: all of it is there.
  if (!reader) return endCall(call);
  let left = mostBytes;
  try {
    for (;;) {
      const { done, value } = await untilStopped(call, reader.read());
      if (done) return endCall(call);
      left -= value.byteLength;
      // Of a copy: what is left of the body stays for whoever reads the answer itself.
      if (left < 0) return void reader.cancel().catch(() => {});
    }
  } catch {
    // Whoever reads the answer itself is told. A copy that is left alone would keep the connection.
    reader.cancel().catch(() => {});
  }
}

/** What the readers of a guarded Response need. */
interface Guard {
  readonly call: Call;
  /** What was handed out, of which this may be a clone: an error of either names it. */
  readonly original: Response;
  /** What its headers say, where they say that the request failed. */
  readonly answer: Failure | undefined;
  /** The bodies that share this attempt: a clone adds one. */
  readonly shared: { open: number };
  /** The guarded stream, once somebody has asked for it. */
  body?: Body;
  /** What broke it; boxed, because it may be any value. */
  broken?: { readonly error: unknown };
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

const guards = createSlot<object, Guard>();

const guardOf = (response: object): Guard => guards.get(response) as Guard;

const prototypes = new WeakMap<object, object>();

/**
 * Makes every way of reading this Response report a late or broken body as our error. It stays the
 * same object and an `instanceof Response`; only its prototype is one of ours, which costs less
 * than a Proxy or a copy.
 */
function guardResponse(response: Response, guard: Guard): Response {
  // Frozen, and there is no copy of it.
  if (!Object.isExtensible(response)) return response;
  // A transport may answer with what it has given before.
  const isGuarded = guards.get(response) !== undefined;
  guards.set(response, guard);
  if (isGuarded) return response;
  const native = Object.getPrototypeOf(response) as Response;
  let guarded = prototypes.get(native);
  if (!guarded) prototypes.set(native, (guarded = createPrototype(native)));
  return Object.setPrototypeOf(response, guarded) as Response;
}

/** What a native Response says of a body that a reader holds: ours holds the native one from its first read on only. */
const locked = (name: string): TypeError => new TypeError(`${name}: the body is locked`);

/** One whose stream is the guarded one. */
const guardedCopy = ({ body, headers }: Response): Response => new Response(body, { headers });

function createPrototype(native: Response): object {
  type Reader = 'arrayBuffer' | 'blob' | 'bytes' | 'text';

  /** Runs one of the native readers; the attempt ends with it. */
  async function read(
    response: Response,
    name: Reader,
    parse?: (value: never) => unknown,
  ): Promise<unknown> {
    const guard = guardOf(response);
    const { call, original, answer, body } = guard;
    const { idleMs } = call;
    const readNative = native[name] as (this: Response) => Promise<unknown>;
    if (body?.locked) throw locked(name);
    // Already read: the native error is about the caller, not about the network.
    if (response.bodyUsed) return readNative.call(response);
    let value: unknown;
    try {
      // The guarded stream limits the silences, and has made its errors ours.
      value = await (idleMs
        ? readNative.call(guardedCopy(response))
        : untilStopped(call, readNative.call(response)));
    } catch (cause) {
      // Chromium puts a TypeError of its own in the place of what that stream broke with.
      if (guard.broken || idleMs) throw guard.broken ? guard.broken.error : cause;
      const next = await call.context.outlive?.askAgain(call, original, !answer);
      if (!next) throw failed(call, cause, original, answer);
      value = await untilStopped(call, readNative.call(next)).catch((error: unknown) => {
        throw failed(call, error, original, answer);
      });
    }
    if (!idleMs) endCall(call);
    // In two steps, so that what cannot be parsed is told from what did not arrive.
    try {
      return parse ? parse(value as never) : value;
    } catch (error) {
      throw notParsed(call, error, original, answer);
    }
  }

  // `super` is the native prototype.
  const guarded: object & ThisType<Response> = {
    json() {
      return read(this, 'text', JSON.parse);
    },
    formData() {
      const { headers } = this;
      return read(this, 'arrayBuffer', (buffer: ArrayBuffer) =>
        new Response(buffer, { headers }).formData(),
      );
    },
    clone() {
      const { body, broken: _, ...guard } = guardOf(this);
      if (body?.locked) throw locked('clone');
      guard.shared.open++;
      return copyReport(this, guardResponse(super.clone() as Response, guard));
    },
    get body() {
      const guard = guardOf(this);
      return super.body && (guard.body ??= guardBody(() => super.body as Body, guard));
    },
  };
  for (const name of ['arrayBuffer', 'blob', 'bytes', 'text'] as const) {
    const value = function (this: Response): Promise<unknown> {
      return read(this, name);
    };
    if (name in native) Object.assign(guarded, { [name]: value });
  }
  return Object.setPrototypeOf(guarded, native) as object;
}

function isByteStream(stream: Body): boolean {
  try {
    stream.getReader({ mode: 'byob' }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

/** The same bytes, one read ahead of nothing: the native stream is locked by the first read only. */
function guardBody(source: () => Body, guard: Guard): Body {
  const { call, original, answer, shared } = guard;
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  const limit = noLimit();
  const isBytes = isByteStream(source());
  return new ReadableStream(
    {
      // As the native one, so that a reader may bring its own buffer.
      type: (isBytes ? 'bytes' : undefined) as 'bytes',
      async pull(controller) {
        // Only now, for a clone in between puts another stream in its place. That it is locked is
        // the caller's doing, and stays the native error.
        reader ??= source().getReader();
        setLimit(call, limit, call.idleMs);
        try {
          const { done, value } = await untilStopped(call, reader.read());
          if (!done) return controller.enqueue(value);
          endCall(call);
          controller.close();
          // A reader with a buffer of its own is told by giving that back.
          controller.byobRequest?.respond(0);
        } catch (cause) {
          setLimit(call, limit);
          await call.context.outlive?.askAgain(call, original, false);
          guard.broken = { error: failed(call, cause, original, answer) };
          controller.error(guard.broken.error);
          // It may not have heeded the signal.
          await reader?.cancel(cause);
        } finally {
          setLimit(call, limit);
        }
      },
      cancel(reason) {
        if (--shared.open === 0) endCall(call);
        return (reader ?? source()).cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
