import { createSlot } from '../../lib/slot.ts';
import { copyReport } from '../../operation/error-info.ts';
import type { Attempt } from './attempt.ts';
import { CheckedReader, KeptBody, readAll } from './body/body.ts';
import {
  ignoreErrors,
  isStreaming,
  isWebStream,
  openBody,
  type PartReader,
} from './body/body-source.ts';
import { mayBeStream } from './body/media-type.ts';
import { failed, notParsed } from './failure.ts';
import { completeMock, isMock } from './mock-answer.ts';

type Bytes = Uint8Array<ArrayBuffer>;

const readers = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'] as const;
type ReaderName = (typeof readers)[number];

/** Makes the value of `json` from a text. */
type Parse = (text: string) => unknown;

/** An answer as the transport returned it. */
interface Source {
  readonly target: object;
  /** The object with its own members: its prototype if it is native, otherwise the answer itself. */
  readonly native: object;
  /** The body of the answer, if that has several readers. */
  kept?: KeptBody;
}

let decoder: TextDecoder | undefined;
const decode = (bytes: Bytes): string => (decoder ??= new TextDecoder()).decode(bytes);

const own = ({ native, target }: Source, name: string): unknown =>
  Reflect.get(native, name, target);

const callOwn = (source: Source, name: string): unknown =>
  (own(source, name) as () => unknown).call(source.target);

/** Makes the value of a reader, from bytes or, for an answer without a stream, from the result of its own reader. */
function convert(content: unknown, name: ReaderName, headers: Headers, parse: Parse): unknown {
  if (!ArrayBuffer.isView(content)) return name === 'json' ? parse(content as string) : content;
  const bytes = content as Bytes;
  if (name === 'text') return decode(bytes);
  if (name === 'json') return parse(decode(bytes));
  return name === 'bytes' ? bytes : new Response(bytes, { headers })[name]();
}

function isByteStream(stream: ReadableStream): boolean {
  try {
    stream.getReader({ mode: 'byob' }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

/** Guards one answer, or a clone of one, while it is read. */
export class Guard {
  readonly response: Response;
  /** The answer that was handed out first. Errors of this one and of its clones have it as their `response`. */
  readonly #original: Response;
  readonly #attempt: Attempt;
  readonly #source: Source;
  #body: ReadableStream<Bytes> | undefined;
  #isRead = false;

  constructor(attempt: Attempt, source: Source, response: Response, original?: Response) {
    this.#attempt = attempt;
    this.#source = source;
    this.response = response;
    this.#original = original ?? response;
    guards.set(response, this);
  }

  /** The same answer, for another attempt. */
  handTo(attempt: Attempt): Response {
    attempt.openBody();
    return new Guard(attempt, this.#source, this.response).response;
  }

  /** Whether one of its readers has read all of its body, or is about to. */
  get isRead(): boolean {
    return this.#isRead;
  }

  get bodyUsed(): boolean {
    return this.#isRead || (!this.#source.kept && !!own(this.#source, 'bodyUsed'));
  }

  get body(): unknown {
    const body = own(this.#source, 'body');
    // A Node stream is left as it is, because it has other methods.
    if (!this.#source.kept && !isWebStream(body)) return body;
    return (this.#body ??= this.#createStream(body));
  }

  /** Whether its body arrives in parts. Creates no stream. */
  get isStreaming(): boolean {
    return isStreaming(own(this.#source, 'body'));
  }

  /** Whether its own reader gives the content, whatever its body is: that of a mock, or of an interceptor. */
  #isOwn(name: ReaderName): boolean {
    const { kept, native, target } = this.#source;
    if (native !== target || kept) return false;
    const isMocked = process.env.NODE_ENV !== 'production' && !this.isStreaming && isMock(target);
    return isMocked || (target as Readers)[name] !== readersBeneath(target)[name];
  }

  /** How `response.json()` parses: a good answer as `steady.json` does, a failure natively. */
  get parse(): Parse {
    const { failure, request } = this.#attempt;
    return failure || request.isRaw ? JSON.parse : parseContent;
  }

  /** Reads all of its body. `parse` makes the value of its JSON. */
  async read(name: ReaderName, parse: Parse): Promise<unknown> {
    const isOwn = this.#isOwn(name);
    // The reader of an interceptor may have read the body before.
    if (!isOwn) this.#refuseUsed(name);
    const attempt = this.#attempt;
    const original = this.#original;
    let content: unknown;
    try {
      content = await this.#receive(name, isOwn);
    } catch (cause) {
      if (isOwn && !attempt.signal.aborted) {
        // Without a body its own reader fails.
        if (parse === parseContent && own(this.#source, 'body') === null) return null;
        throw notParsed(attempt, cause, original);
      }
      content = await this.#receiveAgain(name, cause);
    }
    attempt.end();
    if (isOwn) return content;
    // In two steps, so that a body that cannot be parsed differs from one that did not arrive.
    try {
      return await convert(content, name, original.headers, parse);
    } catch (error) {
      const text = ArrayBuffer.isView(content) ? decode(content as Bytes) : content;
      throw notParsed(attempt, error, original, text as string);
    }
  }

  clone(): Response {
    this.#refuseUsed('clone');
    const source = this.#source;
    const { native, target } = source;
    const isNative = native !== target;
    // Clones of other implementations wait for each other (node-fetch).
    if (!isNative && this.isStreaming && !this.#isOwn('json')) this.#keep();
    if (source.kept) {
      source.kept.share();
      const made = new Guard(this.#attempt, source, wrap(source), this.#original);
      return copyReport(this.response, made.response);
    }
    const copy = callOwn(source, 'clone') as Response;
    const made = guard(this.#attempt, copy, isNative ? native : undefined, this.#original);
    return copyReport(this.response, made);
  }

  /** Whether a reader has taken its body. */
  get isTaken(): boolean {
    return this.#isRead || !!this.#body?.locked;
  }

  /** Reads ahead until there are more than `mostBytes`, the body ends, or `isEnough` accepts a part. @returns whether it has ended. */
  readAhead(mostBytes: number, isEnough?: (part: Bytes) => boolean): Promise<boolean> {
    return this.#attempt.awaitBody(this.#keep().readAhead(mostBytes, isEnough));
  }

  /** Keeps its body from now on, so that it can have several readers. */
  #keep(): KeptBody {
    return (this.#source.kept ??= new KeptBody(this.#open() as PartReader));
  }

  /** Locks its body; undefined if that does not arrive in parts. */
  #open(): PartReader | undefined {
    const { kept } = this.#source;
    if (kept) return kept.openBody();
    const reader = openBody(own(this.#source, 'body'));
    return reader && new CheckedReader(this.#attempt, this.#original, reader);
  }

  async #receive(name: ReaderName, isOwn = false): Promise<unknown> {
    // The answer's own reader does not show whether parts arrive.
    if (isOwn && this.isStreaming) this.#attempt.allowQuiet();
    const reader = isOwn ? undefined : this.#open();
    // React Native's `json()` fails on an empty text.
    const reading = name === 'json' && !isOwn ? 'text' : name;
    if (!reader) return this.#attempt.awaitBody(callOwn(this.#source, reading));
    this.#isRead = true;
    try {
      return await this.#attempt.awaitBody(readAll(reader));
    } catch (cause) {
      // The source may ignore the signal.
      reader.cancel(cause).catch(() => {});
      throw cause;
    }
  }

  /** The same for the answer to a request that was sent again, because the page seemed to close, but stayed. */
  async #receiveAgain(name: ReaderName, cause: unknown): Promise<unknown> {
    const attempt = this.#attempt;
    const { outlive } = attempt.context;
    const next = await outlive?.resend(attempt, this.#original, !attempt.failure);
    try {
      if (!next) throw cause;
      return await guardOf(guardAnswer(attempt, next)).#receive(name);
    } catch (error) {
      throw failed(attempt, error, this.#original);
    }
  }

  #refuseUsed(name: string): void {
    const { failure, request } = this.#attempt;
    // The answer of an error has several readers: a toast for all mutations, the fields of a form.
    if (failure && !request.isRaw && this.#source.kept) return;
    if (this.bodyUsed || this.#body?.locked)
      throw new TypeError(`${name}: the body was read, or is being read`);
  }

  /** A stream of the same bytes. It reads nothing ahead, and only its first read locks the source. */
  #createStream(body: unknown): ReadableStream<Bytes> {
    const attempt = this.#attempt;
    let reader: PartReader | undefined;
    let isCancelled = false;
    const isBytes = isWebStream(body) && isByteStream(body);
    return new ReadableStream(
      {
        // The same type as the source, so that a reader may bring its own buffer.
        type: (isBytes ? 'bytes' : undefined) as 'bytes',
        pull: async (controller) => {
          // Opened only now, because a clone in between replaces the stream. If the caller has locked it, the
          // native error is right.
          const source = (reader ??= this.#open() as PartReader);
          if (mayBeStream(this.#original)) attempt.allowQuiet();
          try {
            const { done, value } = await attempt.awaitBody(source.read());
            // A byte stream takes the bytes away from the other readers.
            if (!done)
              return controller.enqueue(isBytes && this.#source.kept ? value.slice() : value);
            attempt.end();
            controller.close();
            // A reader with its own buffer gets that back.
            controller.byobRequest?.respond(0);
          } catch (cause) {
            if (isCancelled) return;
            await attempt.context.outlive?.resend(attempt, this.#original, false);
            controller.error(failed(attempt, cause, this.#original));
            // The source may ignore the signal.
            source.cancel(cause).catch(() => {});
          }
        },
        cancel: async (reason) => {
          isCancelled = true;
          await (reader ?? this.#open())?.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }
}

const guards = createSlot<object, Guard>();

/** The guard of an answer; undefined for an opaque one. */
export const findGuard: (response: object) => Guard | undefined = guards.get;

const guardOf = guards.get as (response: object) => Guard;

/** The members that replace those of an answer. */
const members: object & ThisType<Response> = {
  clone() {
    return guardOf(this).clone();
  },
  get body() {
    return guardOf(this).body;
  },
  get bodyUsed() {
    return guardOf(this).bodyUsed;
  },
};

for (const name of readers) {
  const value = function (this: Response): Promise<unknown> {
    const guarded = guardOf(this);
    return guarded.read(name, guarded.parse);
  };
  Object.assign(members, { [name]: value });
}

/** The members that this answer has, too. */
function membersOf(answer: object): PropertyDescriptorMap {
  const all = Object.entries(Object.getOwnPropertyDescriptors(members));
  return Object.fromEntries(all.filter(([name]) => name in answer));
}

const prototypes = new WeakMap<object, object>();

/** Overlays our members on a native answer, which stays the same object. */
function overlay(response: Response, native: object): Response {
  let prototype = prototypes.get(native);
  if (!prototype)
    prototypes.set(native, (prototype = Object.create(native, membersOf(native)) as object));
  return Object.setPrototypeOf(response, prototype) as Response;
}

const facts = ['headers', 'ok', 'redirected', 'status', 'statusText', 'type', 'url'];

/** An answer that inherits from another one, with our members, and with its facts as own properties. */
function wrap(source: Source): Response {
  const fact = (name: string) => [name, { value: own(source, name), configurable: true }];
  const descriptors = Object.fromEntries(facts.map(fact)) as PropertyDescriptorMap;
  return Object.create(source.target, { ...descriptors, ...membersOf(source.target) }) as Response;
}

type Readers = Readonly<Record<ReaderName, unknown>>;

/** The platform's own readers of an answer. An interceptor, a proxy or a subclass may have overridden them. */
function readersBeneath(given: object): Readers {
  let at: object | null = given;
  while (at && !Object.getOwnPropertyDescriptor(at, 'status'))
    at = Object.getPrototypeOf(at) as object | null;
  return (at ?? given) as Readers;
}

/** Whether an answer is the platform's own. Its state is private; polyfills and mocks have own properties. */
function hasNativeShape(given: Response): boolean {
  const isBare = Object.isExtensible(given) && Object.keys(given).length === 0;
  const isOfPlatform = Object.prototype.toString.call(given) === '[object Response]';
  if (!isBare || !isOfPlatform) return false;
  const beneath = readersBeneath(given);
  for (const name of readers) if (given[name] !== beneath[name]) return false;
  return true;
}

/**
 * Guards an answer: each of its readers then counts the parts as they arrive, and reports a late or broken body as our
 * error. A native Response stays the same object, and only gets a prototype of ours, which costs less than a copy. Any
 * other answer is wrapped, and its own methods run on itself.
 */
export function guardAnswer(attempt: Attempt, given: Response): Response {
  // A transport may return the same answer again.
  const known = guards.get(given);
  const isNative = !known && hasNativeShape(given);
  // An opaque answer cannot be read.
  if (isNative && given.status === 0) return given;
  if (known) return known.handTo(attempt);
  if (isNative) return guard(attempt, given, Object.getPrototypeOf(given) as object);
  const target = process.env.NODE_ENV === 'production' ? given : completeMock(given);
  ignoreErrors(target.body);
  return guard(attempt, target);
}

/** Guards an answer of the transport. `native` is the prototype of a native one. */
function guard(attempt: Attempt, target: Response, native?: object, original?: Response): Response {
  attempt.openBody();
  const source = { target, native: native ?? target };
  const response = native ? overlay(target, native) : wrap(source);
  return new Guard(attempt, source, response, original).response;
}

/** Reads an answer as JSON; null without content. An answer that an extension returns in place of a refusal has no guard. */
export function readJson(response: Response): Promise<unknown> {
  return findGuard(response)?.read('json', parseContent) ?? response.text().then(parseContent);
}

// Some servers send a single space for an empty body.
const parseContent = (text: string): unknown => (/\S/.test(text) ? JSON.parse(text) : null);
