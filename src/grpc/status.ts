import { type ClassifiedFailure, toFailure } from '../api/outcomes.ts';
import type { HttpFailure } from '../policy/outcome.ts';

/** The status codes of gRPC, each at the place of its number, and what each is over HTTP (google.rpc.Code). */
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

/** The name of a status code of gRPC, such as `UNAVAILABLE`. */
export type GrpcCode = (typeof codes)[number][0];

/** A code by its number, as text too, or by its name, as gRPC or as Connect writes it; undefined for anything else. */
export function toCode(given: unknown): GrpcCode | undefined {
  if (typeof given === 'number') return codes[given]?.[0];
  if (typeof given !== 'string') return undefined;
  if (/^\d+$/.test(given)) return codes[Number(given)]?.[0];
  const name = given.toUpperCase().replace(/^CANCELED$/, 'CANCELLED');
  return codes.find(([known]) => known === name)?.[0];
}

/** What an answer says of a call. */
export interface CallStatus {
  readonly code: GrpcCode;
  /** Its `grpc-retry-pushback-ms`, as it was sent; null or undefined where there is none. */
  readonly pushback: string | null | undefined;
}

/** A signed whole number of 32 bits, without needless zeros. */
function parsePushback(text: string): number | undefined {
  const ms = /^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : NaN;
  return ms < 2 ** 31 ? ms : undefined;
}

/** Whether the server asks for no retry: by a pushback that is negative, or cannot be read. */
export const isRefusingRetries = ({ pushback }: CallStatus): boolean =>
  typeof pushback === 'string' && parsePushback(pushback) === undefined;

/** What a call has shown that has failed. `isRepeatable`: sending it again does no harm. */
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
    // Whoever has cancelled it, the server may have been through with it.
    processed: code === 'CANCELLED' ? 'unknown' : undefined,
  };
  // What has only read starts over; of what writes, the client must read again first.
  const isAborted = code === 'ABORTED' && isRepeatable;
  const retryable = said.retryable ?? (isAborted || undefined);
  return { ...toFailure({ ...said, retryable }, header, nowMs), code };
}
