import { inDevelopment } from '../../lib/development.ts';
import type { Clock } from '../../lib/clock.ts';
import { isPromise } from '../../lib/timer.ts';
import { originOf, shown } from '../../lib/input/url.ts';
import { warn } from '../../lib/input/warn.ts';
import { createError, NotSentError } from '../../operation/errors.ts';
import type { Operations } from '../../operation/operations.ts';
import type { Obstacle, WriteOrder } from '../../operation/write-order.ts';
import { isSafeMethod } from '../../policy/operation.ts';
import { type Failure, failures, type PauseReason } from '../../policy/outcome.ts';
import type { FetchContext } from '../attempt/attempt.ts';
import { dropped } from '../attempt/failure.ts';
import { readHeaders } from '../init.ts';
import { letGoFirst, type WaitingWrites } from './waiting-writes.ts';
import type { SteadyRequest } from '../request.ts';
import type { Sending } from '../attempt/sending.ts';

interface OrderContext {
  readonly clock: Clock;
  readonly operations: Operations;
  readonly writeOrder: WriteOrder;
  readonly waitingWrites: WaitingWrites;
}

type Admit = FetchContext['admit'];

/**
 * Adds the order of writes to an admission. A retry that would undo a later write is not sent. If the outcome of the later
 * write is not known yet, the retry waits for it.
 */
export function admitInOrder(context: OrderContext, admit: Admit): Admit {
  const { clock, operations, writeOrder } = context;
  const admitWrite = (request: SteadyRequest, endAt?: number): ReturnType<Admit> => {
    const write = writeOrder.begin(request.operation, request, isGuarded(request));
    request.setWrite(write);
    const obstacle = (): Obstacle | undefined => {
      const found = write.obstacle();
      if (found === 'superseded') throw supersede(context, request);
      return found;
    };
    const begin = (sending: Sending): Sending | Promise<Sending> => {
      const found = write.obstacle();
      if (found === undefined) return sending;
      // Ended first, so that the error does not count this request as sent.
      sending.end(failures.aborted);
      if (found === 'superseded') throw supersede(context, request);
      return admitLater(request, endAt);
    };
    if (!request.signal?.aborted && obstacle() !== undefined) return admitLater(request, endAt);
    const admitted = admit(request);
    if (!isPromise(admitted)) return admitted && begin(admitted);
    const reason = whyPaused(request);
    const isCut = reason === 'offline' || reason === 'server-down';
    return isCut ? goFirst(context, request, admitted, begin) : admitted.then(begin);
  };
  /** `endAt`: when a wait that began before ends, in epoch milliseconds. */
  const admitLater = async (
    request: SteadyRequest,
    endAt = clock.now() + request.operation.policyOf(request).maxPauseMs,
  ): Promise<Sending> => {
    const { operation, signal, write } = request;
    const isBehind = (): boolean => !signal?.aborted && write?.obstacle() === 'open';
    const end = await letGoFirst(clock, operation, isBehind, endAt, true, operations.waits);
    if (end === 'dropped') throw dropped(request, signal);
    // The later write may have been done.
    if (end === 'expired') throw supersede(context, request);
    return admitWrite(request, endAt) as Sending | Promise<Sending>;
  };
  return (request) => (isRead(request) || request.isLocal ? admit(request) : admitWrite(request));
}

/** A write that was sent is usually answered within this time. */
const answeredMs = 5000;

const whyPaused = (request: SteadyRequest): PauseReason | undefined =>
  request.operation.route.at?.admission.whyPaused(request).reason;

/** Lets a paused write go before reads, from the end of its pause until it is answered. */
async function goFirst(
  { clock, waitingWrites }: OrderContext,
  request: SteadyRequest,
  admitted: Promise<Sending>,
  begin: (sending: Sending) => Sending | Promise<Sending>,
): Promise<Sending> {
  let sentAt: number | undefined;
  // Reads do not wait for an upload, which may take minutes.
  const isFree = (): boolean =>
    sentAt === undefined ? whyPaused(request) === 'queued' : clock.now() < sentAt + answeredMs;
  const own = originOf(request.url);
  const end = waitingWrites.addSource((origin) => origin === own && isFree());
  request.wait(end);
  try {
    const sending = await begin(await admitted);
    sentAt = clock.now();
    return sending;
  } catch (error) {
    end();
    throw error;
  }
}

/** A query reads, whatever its method: GraphQL reads by POST. */
const isRead = ({ method, operation }: SteadyRequest): boolean =>
  isSafeMethod(method) || operation.ref.kind === 'query';

/** Whether the request has a condition (RFC 9110 §13.1): then the server itself refuses it after another write. */
function isGuarded({ passed, init }: SteadyRequest): boolean {
  const headers = readHeaders(passed, init);
  return ['if-match', 'if-none-match', 'if-unmodified-since'].some((name) => headers.has(name));
}

/** The error of a request that is not sent, because it would undo a later write. */
function supersede({ operations }: OrderContext, request: SteadyRequest): NotSentError {
  const { operation, name } = request;
  inDevelopment(() => warnOfOrder(operations, name));
  const processed = operation.effects.wasSent() ? 'unknown' : 'no';
  const outcome: Failure = { kind: 'superseded', processed };
  const text = 'A later change was sent meanwhile, and this one would undo it.';
  const cause = operation.errors.lastError;
  return createError(NotSentError, text, operation, outcome, cause, { request });
}

/** For development. */
function warnOfOrder(instance: object, name: string): void {
  warn(
    instance,
    `superseded ${shown(name)}`,
    `${shown(name)} was not sent, because a later write to its URL was: it would have undone that. Give ` +
      `the mutations that save the same thing one scope, so that each waits for the one before it.`,
    'mutations/autosave.md',
  );
}
