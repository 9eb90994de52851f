/** The error of a stream. Boxed, because it may be any value. */
export interface Failed {
  readonly error: unknown;
}

/**
 * Wraps the app's own stream, because fetch does not tell whether that stream has failed.
 *
 * @throws TypeError if it was read before, as fetch does.
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
