/** What is read of an answer, or of its body: a stream of the web, or of Node. */
interface Discarded {
  readonly body?: unknown;
  readonly bodyUsed?: boolean;
}
interface Cancellable {
  readonly cancel?: (reason?: unknown) => Promise<unknown>;
  readonly destroy?: () => unknown;
}

/** Cancels a body that is not read to its end. */
export async function cancelBody(body: unknown, reason?: unknown): Promise<unknown> {
  const { cancel, destroy } = Object(body) as Cancellable;
  return cancel ? cancel.call(body, reason) : destroy?.call(body);
}

/**
 * Cancels the body of an answer, or of a copy of one, that is read no more: it would keep its connection, or all
 * that comes of it. A body that is read already, or is being read, is left to its reader. It may be no answer at all.
 */
export function discard(answer: unknown): void {
  const { body, bodyUsed } = Object(answer) as Discarded;
  if (!bodyUsed) cancelBody(body).catch(() => {});
}
