import { createSlot } from '../../lib/slot.ts';
import { copyReport } from '../../operation/error-info.ts';
import type { Failure } from '../../policy/outcome.ts';
import { extensionsOf } from '../extension.ts';
import { awaitBody, type BodyCheck, guardStream, readBody, type TakePart } from './body.ts';
import { isStreaming, isWebStream, joinParts, openBody } from './body-source.ts';
import { checkLength } from './body-length.ts';
import { failed, notParsed } from './failure.ts';
import { hasNativeShape, ignoreErrors, wrapAnswer } from './foreign-answer.ts';
import type { Attempt } from './attempt.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** What the readers of a guarded answer need. */
interface Guard {
  readonly attempt: Attempt;
  /** What the transport has answered with, and where its own members are found. */
  readonly target: object;
  readonly native: object;
  /** What was handed out, of which this may be a clone: an error of either names it. */
  readonly original: Response;
  /** Of an answer and its clones: how many bodies are open, and what its headers say, where they say that it failed. */
  readonly shared: { open: number; failure: Failure | undefined };
  /** The guarded stream, once it has been asked for. */
  body?: ReadableStream<Bytes>;
  /** Its share of the body, where it could not be cloned by itself. */
  source?: ReadableStream<Bytes>;
  /** It was read, where its own `bodyUsed` does not say so. */
  isUsed?: boolean;
}

const guards = createSlot<object, Guard>();

const guardOf = (response: object): Guard => guards.get(response) as Guard;

const own = ({ native, target }: Guard, name: string): unknown => Reflect.get(native, name, target);

const bodyOf = (guard: Guard): unknown => guard.source ?? own(guard, 'body');

const callOwn = (guard: Guard, name: string): unknown =>
  (own(guard, name) as () => unknown).call(guard.target);

/**
 * Makes every way of reading an answer see each part as it comes, and report a late or broken body as our
 * error. A native Response stays the same object: only its prototype is one of ours, which costs less than a
 * Proxy or a copy. Any other answer is wrapped: its own methods run on itself.
 */
export function guardAnswer(attempt: Attempt, given: Response): Response {
  // A transport may answer with what it has given before.
  const known = guards.get(given);
  const isNative = !known && hasNativeShape(given);
  // Of an opaque answer nothing can be read.
  if (isNative && given.status === 0) return given;
  const response = known || isNative ? given : wrapAnswer(given, members, isReadWhole);
  const native: object =
    known?.native ?? (isNative ? (Object.getPrototypeOf(given) as object) : given);
  const target = known?.target ?? given;
  const shared = { open: 1, failure: undefined };
  guards.set(response, { attempt, target, native, original: response, shared });
  if (isNative) Object.setPrototypeOf(given, prototypeOver(native));
  if (!isNative && !known) ignoreErrors((given as Partial<Response>).body);
  return response;
}

/** Keeps what the headers of an answer say, where they say that it failed. */
export function markFailed(response: Response, failure: Failure | undefined): void {
  const guard = guards.get(response);
  if (guard) guard.shared.failure = failure;
}

/** Whether an answer has a body. Costs no stream. */
export const hasBody = (response: Response): boolean => {
  const guard = guards.get(response);
  return !guard || (bodyOf(guard) ?? null) !== null;
};

/** Whether its body comes part by part. */
export const comesInParts = (response: Response): boolean => {
  const guard = guards.get(response);
  return !!guard && isStreaming(bodyOf(guard));
};

/** What a native Response says of a body that a reader holds: ours holds the native one from its first read on only. */
const locked = (name: string): TypeError => new TypeError(`${name}: the body is locked`);

/** Reads an answer as JSON. One without content is null. */
export async function readJson(response: Response): Promise<unknown> {
  return guards.get(response) ? read(response, 'json', parseContent) : response.json();
}

// Some servers send a single space for an empty body.
const parseContent = (text: string): unknown => (/\S/.test(text) ? JSON.parse(text) : null);

/** Whether one of its readers has taken all of its body. */
export const isReadWhole = (response: object): boolean => !!guards.get(response)?.isUsed;

/** Whether its body has been read, or is held by a reader. */
export const isRead = (response: Response): boolean =>
  isReadWhole(response) || !!guards.get(response)?.body?.locked;

/** Reads an answer that comes in parts until `take` has enough. @throws whatever the body broke with. */
export async function readUntil(response: Response, take: TakePart): Promise<void> {
  const guard = guardOf(response);
  const reader = openBody(bodyOf(guard));
  if (reader && (await readParts(guard, reader, take))) guard.attempt.end();
}

/** The same. @throws what a body that does not come makes of the attempt. */
export const readBeginning = (response: Response, take: TakePart): Promise<void> =>
  readUntil(response, take).catch((cause: unknown) => breakOff(guardOf(response), cause));

/** @throws our error of a body that did not come. */
async function breakOff({ attempt, original, shared }: Guard, cause: unknown): Promise<never> {
  await attempt.context.outlive?.askAgain(attempt, original, false);
  throw failed(attempt, cause, original, shared.failure);
}

async function readParts(
  guard: Guard,
  reader: NonNullable<ReturnType<typeof openBody>>,
  take: TakePart,
): Promise<boolean> {
  const check = checkOf(guard);
  const isWhole = await readBody(guard.attempt, reader, (part) => {
    check?.take(part);
    return take(part);
  });
  if (isWhole) check?.end();
  return isWhole;
}

/** Counts what comes of a body that says how long it is, or ends with a frame of its own. */
function checkOf({ attempt, original }: Guard): BodyCheck | undefined {
  const { context, request } = attempt;
  let frames: BodyCheck | undefined;
  for (const extension of extensionsOf(request)) frames ??= extension.checkBody?.(original);
  // Another client has read its body itself.
  return context.client ? frames : checkLength(original, request.method, frames);
}

type ReaderName = 'arrayBuffer' | 'blob' | 'bytes' | 'formData' | 'json' | 'text';

let decoder: TextDecoder | undefined;
const decode = (bytes: Bytes): string => (decoder ??= new TextDecoder()).decode(bytes);

/** Makes of a text what `json` is to return. */
type Parse = (text: string) => unknown;

/** What each reader makes of the bytes. */
const convert: Readonly<
  Record<ReaderName, (bytes: Bytes, headers: Headers, parse: Parse) => unknown>
> = {
  arrayBuffer: ({ buffer, byteOffset, byteLength }) =>
    byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength),
  blob: (bytes, headers) => new Response(bytes, { headers }).blob(),
  bytes: (bytes) => bytes,
  formData: (bytes, headers) => new Response(bytes, { headers }).formData(),
  json: (bytes, _, parse) => parse(decode(bytes)),
  text: decode,
};

/** Reads all of a body. @returns what makes the value of it, which fails where it cannot be parsed. */
async function receive(guard: Guard, name: ReaderName, parse: Parse): Promise<() => unknown> {
  const { headers } = guard.original;
  const reader = openBody(bodyOf(guard));
  if (!reader) return receiveWhole(guard, name, parse);
  guard.isUsed = true;
  const parts: Bytes[] = [];
  await readParts(guard, reader, (part) => void parts.push(part));
  return () => convert[name](joinParts(parts), headers, parse);
}

/** The same of an answer without a stream: by a reader of its own. */
async function receiveWhole(guard: Guard, name: ReaderName, parse: Parse): Promise<() => unknown> {
  const has = (reader: ReaderName): boolean => typeof own(guard, reader) === 'function';
  // A test that makes an answer by hand makes the reader that is used.
  const isPlain = Object.getPrototypeOf(guard.target) === Object.prototype;
  const asText = name === 'json' && has('text') && !(isPlain && has('json'));
  const reading = asText ? 'text' : name === 'text' && !has('text') ? 'json' : name;
  let value: unknown;
  try {
    value = await awaitBody(guard.attempt, callOwn(guard, reading));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return () => {
      throw error;
    };
  }
  if (value === '' && hasBody(guard.original)) checkOf(guard)?.end();
  if (asText) return () => parse(value as string);
  return () => (name === 'text' && reading === 'json' ? JSON.stringify(value) : value);
}

/** The same of the answer to a request that was sent again, because the page that was left has stayed. */
async function receiveAgain(
  guard: Guard,
  name: ReaderName,
  parse: Parse,
  cause: unknown,
): Promise<() => unknown> {
  const { attempt, original, shared } = guard;
  const next = await attempt.context.outlive?.askAgain(attempt, original, !shared.failure);
  if (!next) throw cause;
  return receive(guardOf(guardAnswer(attempt, next)), name, parse);
}

/** Runs one of the readers; the attempt ends with it. */
async function read(response: Response, name: ReaderName, parse: Parse): Promise<unknown> {
  const guard = guardOf(response);
  const { attempt, original, shared } = guard;
  if (guard.body?.locked) throw locked(name);
  // Read already: the native error is about the caller, not about the network.
  if (own(guard, 'bodyUsed') === true) return callOwn(guard, name);
  if (guard.isUsed) throw locked(name);
  const make = await receive(guard, name, parse)
    .catch((cause: unknown) => receiveAgain(guard, name, parse, cause))
    .catch((cause: unknown) => {
      throw failed(attempt, cause, original, shared.failure);
    });
  attempt.end();
  // In two steps, so that what cannot be parsed is told from what did not arrive.
  try {
    return await make();
  } catch (error) {
    throw notParsed(attempt, error, original, shared.failure);
  }
}

function cloneAnswer(response: Response): Response {
  const guard = guardOf(response);
  const { attempt, original, shared, target } = guard;
  if (guard.body?.locked || (guard.isUsed && !own(guard, 'bodyUsed'))) throw locked('clone');
  const isNative = guard.native !== target;
  const body = bodyOf(guard);
  const hasOwn = typeof own(guard, 'clone') === 'function';
  // A mock may return nothing.
  const copy = ((hasOwn && callOwn(guard, 'clone')) || target) as Response;
  const made = isNative
    ? (Object.setPrototypeOf(copy, prototypeOver(guard.native)) as Response)
    : wrapAnswer(copy, members, isReadWhole);
  const next: Guard = {
    attempt,
    target: copy,
    native: isNative ? guard.native : copy,
    original,
    shared,
  };
  if (!hasOwn && isWebStream(body)) [guard.source, next.source] = body.tee();
  shared.open++;
  guards.set(made, next);
  for (const one of [guard, next]) if (!isNative) ignoreErrors(bodyOf(one));
  return copyReport(response, made);
}

function bodyIn(response: Response): ReadableStream<Bytes> | null {
  const guard = guardOf(response);
  const { attempt, shared } = guard;
  const body = bodyOf(guard) ?? null;
  // That of Node is left as it is: it has other readers.
  if (!isWebStream(body)) return body as null;
  return (guard.body ??= guardStream(
    attempt,
    () => bodyOf(guard) as ReadableStream<Bytes>,
    checkOf(guard),
    {
      onEnd: () => attempt.end(),
      onCancel() {
        if (--shared.open === 0) attempt.end();
      },
      onBreak: (cause) => breakOff(guard, cause).catch((error: unknown) => error),
    },
  ));
}

/** The members that are ours, whatever the answer is. */
const members: object & ThisType<Response> = {
  clone() {
    return cloneAnswer(this);
  },
  get body() {
    return bodyIn(this);
  },
};

for (const name of Object.keys(convert) as ReaderName[]) {
  const value = function (this: Response): Promise<unknown> {
    return read(this, name, JSON.parse);
  };
  Object.assign(members, { [name]: value });
}

const prototypes = new WeakMap<object, object>();

/** A prototype with our members, and all others of the native one. */
function prototypeOver(native: object): object {
  let guarded = prototypes.get(native);
  if (guarded) return guarded;
  const names = Object.keys(members).filter((name) => name in native);
  guarded = Object.create(native) as object;
  for (const name of names)
    Object.defineProperty(guarded, name, Object.getOwnPropertyDescriptor(members, name) as object);
  prototypes.set(native, guarded);
  return guarded;
}
