import { sizeOf, unknownBytes } from '../../../lib/body-parts.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Operations } from '../../../operation/operations.ts';
import type { SteadyRequest } from '../../request.ts';
import type { Sending } from '../sending.ts';
import { defaultTimeoutMs, type Policy } from '../../../policy/options.ts';

/** A body up to this size is one packet, and adds nothing to the limit. */
const packetBytes = 1400;
/** The slowest connection that is assumed: 2G. */
const slowestBytesPerMs = 8;

/**
 * The default for a request that is not sent again. A shorter limit would end it for good, usually after the server did
 * it. The default is recognised by its value, because an app may spread a preset.
 */
const longestMs = 60_000;
/** How often the limit of an operation is doubled. A server that has not answered by then is not slow, but hangs. */
const mostDoublings = 2;

/** The facts that the time limits of an attempt depend on. */
export interface Limited {
  /** True if the operation sends the request again when it is late. */
  readonly isRepeated: boolean;
  /** How many attempts of the operation were late. */
  readonly timeouts: number;
  /** The usual latency of its endpoint, in milliseconds; undefined if not known. */
  readonly usualMs: number | undefined;
  /** How long the last attempt of an operation may wait, in milliseconds; 0 for any other. Nothing follows that could have its answer. */
  readonly leftMs: number;
  readonly factor: number | undefined;
}

type Limits = Pick<Policy, 'timeout' | 'uploadBytesPerSecond'>;

/** An attempt that is about to be sent. */
interface Beginning {
  readonly context: { readonly clock: Clock; readonly operations: Operations };
  readonly request: SteadyRequest;
  readonly sending: Sending | undefined;
}

/** Reads the facts of an attempt. */
export function limitedOf({ context, request, sending }: Beginning): Limited {
  const { operation, admission, endpoint } = request;
  const { retriedFor } = operation.errors;
  const isTrial = sending?.permit.isTrial;
  // A probe of an origin that may be down altogether has a short limit, so that the next one follows soon. But each
  // attempt of a write that is only slow is work for its server.
  const isSearching = isTrial && !request.write && !admission?.origin.health.isBroken(endpoint);
  // A lone read may be of a query that did not pass its signal on.
  const isOfQuery = operation.isLone && request.risk === 0 && context.operations.hasUnlinkedQuery();
  return {
    isRepeated: request.isRepeatable && !isOfQuery,
    timeouts: isSearching ? 0 : retriedFor.filter((reason) => reason === 'timeout').length,
    usualMs: admission?.origin.latency.usual.get(endpoint),
    leftMs:
      operation.isLastAttempt(request) && !isTrial
        ? operation.dueAt(request) - context.clock.now()
        : 0,
    factor: operation.given.timeoutFactor,
  };
}

/**
 * The time limit for the headers of an answer, in milliseconds: that of the policy, and the time that the body takes at
 * `uploadBytesPerSecond`. It is longer after the first attempts that were late, and for an endpoint that is usually slow.
 */
export function headersLimitOf(policy: Limits, bytes: number, limited: Limited): number {
  const { isRepeated, timeouts, usualMs = 0, leftMs, factor = 1 } = limited;
  const mostMs = longestLimitOf(policy, bytes);
  const sendingMs = uploadMs(policy, bytes);
  const firstMs = isRepeated ? headersMs(policy) + sendingMs : mostMs;
  const limitMs = factor * doubled(timeouts, sendingMs > 0) * firstMs;
  return Math.max(usualMs > limitMs ? 2 * usualMs : limitMs, Math.min(mostMs, leftMs));
}

/** The time limit for each next part of the body, in milliseconds. It grows as that for the headers. */
export function idleLimitOf(policy: Limits, { timeouts, leftMs }: Limited): number {
  const { timeout } = policy;
  if (typeof timeout === 'object') return timeout.bodyIdleMs;
  return Math.max(doubled(timeouts) * timeout, Math.min(longestLimitOf(policy, 0), leftMs));
}

/** By how much a limit is longer. After the last doubling it is short again, so that more retries begin before the deadline; but not for a large body. */
const doubled = (timeouts: number, isLarge = false): number =>
  timeouts > mostDoublings && !isLarge ? 1 : 2 ** Math.min(timeouts, mostDoublings);

/** The limit, in milliseconds, of a request that is not sent again: a shorter one would only hide what was done. */
export const longestLimitOf = (policy: Limits, bytes: number): number =>
  (policy.timeout === defaultTimeoutMs ? longestMs : headersMs(policy)) + uploadMs(policy, bytes);

const headersMs = ({ timeout }: Limits): number =>
  typeof timeout === 'object' ? timeout.headersMs : timeout;

const uploadMs = ({ uploadBytesPerSecond }: Limits, bytes: number): number =>
  bytes > packetBytes ? Math.ceil((bytes / uploadBytesPerSecond) * 1000) : 0;

/** Whether a body of this size may still be on its way at the end of the limit. Then the server owes no answer yet. */
export const mayBeUploading = (bytes: number, limitMs: number): boolean =>
  bytes > slowestBytesPerMs * limitMs;

/** The size of the body that fetch sends, in bytes; 0 for a text in a Request, until that is measured. */
export function bodyBytes(request: Request | undefined, { body }: RequestInit): number {
  if (body != null) return sizeOf(body);
  if (!request) return 0;
  const length = request.headers.get('content-length') ?? '';
  // Without a check, a wrong header would remove the time limit.
  if (/^\d+$/.test(length)) return Number(length);
  return request.body && !isText(request) ? unknownBytes : 0;
}

/**
 * Measures a text in a Request, which does not tell its size. Undefined if `bodyBytes` knows the size.
 *
 * @throws TypeError if the text was used.
 */
export function measureText(request: Request, { body }: RequestInit): Promise<number> | undefined {
  if (body != null || request.headers.has('content-length') || !isText(request)) return undefined;
  // Only for texts, because the copy of a file would be large.
  return request
    .clone()
    .arrayBuffer()
    .then(({ byteLength }) => byteLength);
}

/** Whether the body of a Request is a text, as its content type says. */
const isText = ({ headers }: Request): boolean =>
  /json|^text|urlencoded|graphql|xml/i.test(headers.get('content-type') ?? '');
