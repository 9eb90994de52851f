/** The parts of an answer that discarding reads. The body may be a web stream or a Node stream. */
interface Discarded {
  readonly body?: unknown;
  readonly bodyUsed?: boolean;
}
interface Cancellable {
  readonly cancel?: () => Promise<unknown>;
  readonly destroy?: () => unknown;
}

/** Cancels a body that is not read to its end. */
export async function cancelBody(body: unknown): Promise<unknown> {
  const { cancel, destroy } = Object(body) as Cancellable;
  return cancel ? cancel.call(body) : destroy?.call(body);
}

/**
 * Cancels the body of an answer, or of its clone, that will not be read: it would keep the connection, or
 * buffer all that arrives. A body that is already read, or being read, is left to its reader. Accepts any
 * value.
 */
export function discard(answer: unknown): void {
  const { body, bodyUsed } = Object(answer) as Discarded;
  if (!bodyUsed) cancelBody(body).catch(() => {});
}
