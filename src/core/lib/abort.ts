/**
 * The reason of an abort; an `AbortError` if the signal has none. React Native's signals have no reason, and
 * it has no `DOMException`.
 */
export const reasonOf = ({ reason = abortError() }: { readonly reason?: unknown }): unknown =>
  reason;

function abortError(): Error {
  const text = 'This operation was aborted';
  const name = 'AbortError';
  return typeof DOMException === 'undefined'
    ? Object.assign(new Error(text), { name })
    : new DOMException(text, name);
}

/** A signal that is aborted with the first of these: `AbortSignal.any`, with a fallback for engines that lack it. */
export function firstOf(signals: AbortSignal[]): AbortSignal {
  if ('any' in AbortSignal) return AbortSignal.any(signals);
  const first = new AbortController();
  for (const signal of signals) {
    const abort = (): void => first.abort(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
  }
  return first.signal;
}
