/** The error of a stream, boxed, because it may be any value. */
export interface Failed {
  readonly error: unknown;
}

/**
 * Reads the stream of an app through one of ours: fetch does not say whether it was that stream that has failed.
 *
 * @throws TypeError for one that was read before, as fetch does.
 */
export function readThrough(
  stream: ReadableStream,
  onFail: (failed: Failed) => void,
): ReadableStream {
  const reader = (new Response(stream).body as ReadableStream).getReader();
  const pull = async (controller: ReadableStreamDefaultController): Promise<void> => {
    try {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value);
    } catch (error) {
      onFail({ error });
      throw error;
    }
  };
  const cancel = (reason: unknown): Promise<void> => reader.cancel(reason);
  return new ReadableStream({ pull, cancel });
}
