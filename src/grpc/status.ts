import { toFailure, type ClassifiedFailure, type HttpFailure } from '../core/internal.ts';

/** gRPC's status codes, in order of their numbers, each with its HTTP equivalent (google.rpc.Code). */
const codes = [
  ['OK', 200],
  ['CANCELLED', 499],
  ['UNKNOWN', 500],
  ['INVALID_ARGUMENT', 400],
  ['DEADLINE_EXCEEDED', 504],
  ['NOT_FOUND', 404],
  ['ALREADY_EXISTS', 409],
  ['PERMISSION_DENIED', 403],
  ['RESOURCE_EXHAUSTED', 429],
  ['FAILED_PRECONDITION', 400],
  ['ABORTED', 409],
  ['OUT_OF_RANGE', 400],
  ['UNIMPLEMENTED', 501],
  ['INTERNAL', 500],
  ['UNAVAILABLE', 503],
  ['DATA_LOSS', 500],
  ['UNAUTHENTICATED', 401],
] as const;

/** The name of a gRPC status code, such as `UNAVAILABLE`. */
export type GrpcCode = (typeof codes)[number][0];

/** A code by its number (also as text) or by its name, as gRPC or Connect writes it; undefined for anything else. */
export function toCode(given: unknown): GrpcCode | undefined {
  if (typeof given === 'number') return codes[given]?.[0];
  if (typeof given !== 'string') return undefined;
  if (/^\d+$/.test(given)) return codes[Number(given)]?.[0];
  const name = given.toUpperCase().replace(/^CANCELED$/, 'CANCELLED');
  return codes.find(([known]) => known === name)?.[0];
}

/** The status that an answer reports for a call. */
export interface CallStatus {
  readonly code: GrpcCode;
  /** The `grpc-retry-pushback-ms`, as sent; null or undefined without one. */
  readonly pushback: string | null | undefined;
}

/** A signed 32-bit integer, without leading zeros. */
function parsePushback(text: string): number | undefined {
  const ms = /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : NaN;
  return ms < 2 ** 31 ? ms : undefined;
}

/** Whether the server forbids a retry, with a negative or unreadable pushback. */
export const isRefusingRetries = ({ pushback }: CallStatus): boolean =>
  typeof pushback === 'string' && parsePushback(pushback) === undefined;

/** The failure that a call's status means. `isRepeatable`: sending it again does no harm. */
export function failureOf(
  status: CallStatus,
  isRepeatable: boolean,
  header: (name: string) => string | null,
  nowMs: number,
): HttpFailure {
  const { code, pushback } = status;
  const said: ClassifiedFailure = {
    status: codes.find(([name]) => name === code)?.[1] ?? 500,
    retryAfterMs: typeof pushback === 'string' ? parsePushback(pushback) : undefined,
    retryable: isRefusingRetries(status) || code === 'DATA_LOSS' ? false : undefined,
    // The server may have finished the call, whichever side cancelled it.
    processed: code === 'CANCELLED' ? 'unknown' : undefined,
  };
  // An aborted read starts over. After an aborted write the client must read again first.
  const isAborted = code === 'ABORTED' && isRepeatable;
  const retryable = said.retryable ?? (isAborted || undefined);
  return { ...toFailure({ ...said, retryable }, header, nowMs), code };
}
