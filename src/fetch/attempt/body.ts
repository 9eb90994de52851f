import { TimeLimit } from '../../lib/timer.ts';
import type { PartReader } from './body-source.ts';
import type { Attempt } from './attempt.ts';

/** Counts the parts of a body as they come. */
export interface BodyCheck {
  readonly take: (part: Uint8Array<ArrayBuffer>) => void;
  /** @throws TypeError for a body that has ended before all of it was there. */
  readonly end: () => void;
}

/** Limits each silence while a body is waited for: a part that comes starts the limit anew. */
interface SilenceLimit {
  readonly restart: () => void;
  readonly end: () => void;
}

/** One timer, however many parts come: it finds out when it rings how long the silence is. */
function limitSilence(attempt: Attempt): SilenceLimit {
  const { context, request, idleMs } = attempt;
  const { operation } = request;
  let since = context.clock.now();
  const expire = (): void => {
    const leftMs = since + idleMs - context.clock.now();
    if (leftMs > 0) limit.restart(leftMs);
    else attempt.expire();
  };
  const limit = new TimeLimit(context, { expire }, operation.pauses);
  // That of a body that is not read.
  attempt.limit.stop();
  attempt.line?.startBody(attempt);
  limit.restart(idleMs);
  const endRequest = operation.attemptLimit?.beginRequest();
  return {
    restart: () => (since = context.clock.now()),
    end() {
      limit.stop();
      endRequest?.();
    },
  };
}

/** Settles as this promise of a body does, after a silence of the attempt's limit at the latest. */
export async function awaitBody<T>(attempt: Attempt, begun: T | Promise<T>): Promise<T> {
  const silence = limitSilence(attempt);
  try {
    return await attempt.untilStopped(begun);
  } finally {
    silence.end();
  }
}

/** @returns Whether no more parts are wanted. */
export type TakePart = (part: Uint8Array<ArrayBuffer>) => boolean | void;

/** Reads a body to its end, or until `take` returns true. @returns whether it came to its end. */
export async function readBody(
  attempt: Attempt,
  reader: PartReader,
  take: TakePart,
): Promise<boolean> {
  const silence = limitSilence(attempt);
  const readAll = async (): Promise<boolean> => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return true;
      silence.restart();
      if (take(value as Uint8Array<ArrayBuffer>)) return false;
    }
  };
  let isWhole = false;
  try {
    isWhole = await attempt.untilStopped(readAll());
    return isWhole;
  } finally {
    silence.end();
    // Its source may not heed the signal.
    if (!isWhole) reader.cancel(attempt.signal.reason).catch(() => {});
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

function isByteStream(stream: ReadableStream<Bytes>): boolean {
  try {
    stream.getReader({ mode: 'byob' }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

/** What a guarded stream tells of itself. */
interface StreamEnds {
  /** All of it has been read. */
  readonly onEnd: () => void;
  readonly onCancel: () => void;
  /** @returns The error that its readers get. */
  readonly onBreak: (cause: unknown) => Promise<unknown>;
}

/**
 * The same bytes, one read ahead of nothing: the source is locked by the first read only. Each silence within
 * a read is limited.
 */
export function guardStream(
  attempt: Attempt,
  source: () => ReadableStream<Bytes>,
  check: BodyCheck | undefined,
  { onEnd, onCancel, onBreak }: StreamEnds,
): ReadableStream<Bytes> {
  let reader: PartReader | undefined;
  const isBytes = isByteStream(source());
  return new ReadableStream(
    {
      // As the source, so that a reader may bring its own buffer.
      type: (isBytes ? 'bytes' : undefined) as 'bytes',
      async pull(controller) {
        // Only now, for a clone in between puts another stream in its place. That it is locked is
        // the caller's doing, and stays the native error.
        reader ??= source().getReader() as PartReader;
        try {
          const { done, value } = await awaitBody(attempt, reader.read());
          if (!done) {
            check?.take(value as Bytes);
            return controller.enqueue(value as Bytes);
          }
          check?.end();
          onEnd();
          controller.close();
          // A reader with a buffer of its own is told by giving that back.
          controller.byobRequest?.respond(0);
        } catch (cause) {
          controller.error(await onBreak(cause));
          // It may not have heeded the signal.
          await reader?.cancel(cause);
        }
      },
      cancel(reason) {
        onCancel();
        return (reader ?? source()).cancel(reason) as Promise<void>;
      },
    },
    { highWaterMark: 0 },
  );
}
