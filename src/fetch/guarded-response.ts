import type { Attempt } from './attempt.ts';

/** What the readers of a guarded Response need. */
export interface Guard {
  readonly attempt: Attempt;
  /** The longest silence within the body, where silences are limited. */
  readonly idleMs: number | undefined;
  /** Makes our error from what reading the body threw; what parsing it threw stays itself. */
  readonly failed: (cause: unknown, step?: 'parse') => unknown;
  /**
   * To be asked when it breaks off: waits for what becomes of a page that is left. Where all of it is
   * wanted, and it does no harm, it is asked for again, and this is the answer.
   */
  readonly again: (isWhole: boolean) => Promise<Response | undefined>;
  /** The bodies that share this attempt: a clone adds one. */
  readonly shared: { open: number };
  /** The guarded stream, once somebody has asked for it. */
  body?: Body;
  /** What broke it; boxed, because it may be any value. */
  broken?: { readonly error: unknown };
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

const guards = new WeakMap<Response, Guard>();
const prototypes = new WeakMap<object, object>();

/**
 * Makes every way of reading this Response report a late or broken body as our error. It stays the
 * same object and an `instanceof Response`; only its prototype is one of ours, which costs less
 * than a Proxy or a copy.
 */
export function guardResponse(response: Response, guard: Guard): Response {
  const native = Object.getPrototypeOf(response) as Response;
  let guarded = prototypes.get(native);
  if (!guarded) prototypes.set(native, (guarded = createPrototype(native)));
  guards.set(response, guard);
  return Object.setPrototypeOf(response, guarded) as Response;
}

/** What a native Response says of a body that a reader holds: ours holds the native one from its first read on only. */
const locked = (name: string): TypeError => new TypeError(`${name}: the body is locked`);

const guardOf = (response: Response): Guard => guards.get(response) as Guard;

function createPrototype(native: Response): object {
  type Reader = 'arrayBuffer' | 'blob' | 'bytes' | 'text';

  /** Runs one of the native readers; the attempt ends with it. */
  async function read(
    response: Response,
    name: Reader,
    parse?: (value: never) => unknown,
  ): Promise<unknown> {
    const guard = guardOf(response);
    const { attempt, idleMs, failed, again, body } = guard;
    const readNative = native[name] as (this: Response) => Promise<unknown>;
    if (body?.locked) throw locked(name);
    // Already read: the native error is about the caller, not about the network.
    if (response.bodyUsed) return readNative.call(response);
    const { headers } = response;
    let value: unknown;
    try {
      // The guarded stream limits the silences, and has made its errors ours.
      value = await readNative.call(idleMs ? new Response(response.body, { headers }) : response);
    } catch (cause) {
      // Chromium puts a TypeError of its own in the place of what that stream broke with.
      if (guard.broken || idleMs) throw guard.broken ? guard.broken.error : cause;
      const next = await again(true);
      if (!next) throw failed(cause);
      value = await readNative.call(next).catch((error: unknown) => {
        throw failed(error);
      });
    }
    if (!idleMs) attempt.settle();
    // In two steps, so that what cannot be parsed is told from what did not arrive.
    try {
      return parse ? parse(value as never) : value;
    } catch (error) {
      throw failed(error, 'parse');
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
      return guardResponse(super.clone() as Response, guard);
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

/** The same bytes, one read ahead of nothing: the native stream is locked by the first read only. */
function guardBody(source: () => Body, guard: Guard): Body {
  const { attempt, idleMs, failed, again, shared } = guard;
  let reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined;
  const limit = attempt.createLimit();
  return new ReadableStream(
    {
      async pull(controller) {
        // Only now, for a clone in between puts another stream in its place. That it is locked is
        // the caller's doing, and stays the native error.
        reader ??= source().getReader();
        limit(idleMs);
        try {
          const { done, value } = await reader.read();
          if (!done) return controller.enqueue(value);
          attempt.settle();
          controller.close();
        } catch (cause) {
          limit();
          await again(false);
          guard.broken = { error: failed(cause) };
          controller.error(guard.broken.error);
        } finally {
          limit();
        }
      },
      cancel(reason) {
        if (--shared.open === 0) attempt.settle();
        return (reader ?? source()).cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
