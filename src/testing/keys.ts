import { reject } from '../core/lib/input/check.ts';
import type { FaultRequest } from './faults/fault.ts';

/** Recorded requests: any fault has them. */
export interface Recorded {
  readonly requests: readonly FaultRequest[];
}

/** The header to read keys from. */
export interface KeyHeader {
  /** The header that carries them. @default 'Idempotency-Key' */
  header?: string;
}

/**
 * The idempotency keys of the requests that reached a fault: each once, in order of first appearance, without
 * quotes. One submission has one key, so the length is the number of submissions.
 *
 * @example
 * ```ts
 * import { failTimes, keysSeen } from 'steadfetch/testing';
 *
 * const fault = failTimes(2, 503);
 * keysSeen(fault); // ['8e03978e-40d5-43dd-bc93-6894a57f9324']
 * ```
 */
export function keysSeen(fault: Recorded, options: KeyHeader = {}): string[] {
  const keys = requestsOf('keysSeen', fault).map((request) => keyOf(request, options));
  return [...new Set(keys.filter((key) => key !== undefined))];
}

/**
 * The requests whose key an earlier request to the same method and URL had. A server that honours keys
 * answers them without doing the work again; any other server repeats it.
 *
 * @example
 * ```ts
 * import { duplicates, failTimes } from 'steadfetch/testing';
 *
 * const fault = failTimes(2, 503);
 * duplicates(fault).length; // 2
 * ```
 */
export function duplicates(fault: Recorded, options: KeyHeader = {}): FaultRequest[] {
  const seen = new Set<string>();
  return requestsOf('duplicates', fault).filter((request) => {
    const key = keyOf(request, options);
    if (key === undefined) return false;
    const id = `${request.method} ${request.url} ${key}`;
    const isAgain = seen.has(id);
    seen.add(id);
    return isAgain;
  });
}

function requestsOf(operation: string, fault: Recorded): readonly FaultRequest[] {
  const { requests } = Object(fault) as Partial<Recorded>;
  return (
    requests ?? reject(operation, 'its first argument', fault, 'a fault, such as failTimes(2, 503)')
  );
}

/** The key of a request: a String of RFC 9651 without its quotes and escapes. */
function keyOf({ headers }: FaultRequest, { header = 'Idempotency-Key' }: KeyHeader) {
  const value = headers.get(header) ?? undefined;
  return value && /^".*"$/.test(value) ? value.slice(1, -1).replaceAll(/\\(["\\])/g, '$1') : value;
}
