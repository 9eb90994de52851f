import { inDevelopment } from '../core/lib/development.ts';
import {
  SteadfetchError,
  isSteadfetchError,
  reportFailure,
  reportOf,
  type Failure,
  type OperationFacts,
} from '../core/internal.ts';
import { type DeadReason, lacksAnswer, type RowError } from './store/row.ts';

/** The known facts about the entry of an error. */
export interface EntryFacts {
  readonly id: string;
  readonly handler: string;
  readonly createdAt: number;
  readonly attempts: number;
  readonly isInDoubt: boolean;
  readonly lastError?: RowError | undefined;
  readonly deadReason?: DeadReason | undefined;
  readonly isUnkeyed?: boolean | undefined;
}

/**
 * Whether sending it again could do it twice: it may have been done, and one of its requests had no key. Only a user may
 * decide that.
 */
const isUnrepeatable = ({ deadReason, isInDoubt, isUnkeyed }: EntryFacts): boolean =>
  deadReason === 'not-repeatable' || (isInDoubt && !!isUnkeyed);

/** Whether a dead entry stays dead when it is submitted again under its key. */
export const isDecidedElsewhere = (entry: EntryFacts): boolean =>
  isUnrepeatable(entry) || needsNewKey(entry.deadReason) || lacksAnswer(entry.deadReason);

/** Whether the key of an entry that may have been done is of no use any more. */
export const needsNewKey = (reason: DeadReason | undefined): boolean =>
  reason === 'expired' || reason === 'age-unknown' || reason === 'cannot-find-out';

/**
 * An entry of the outbox needs a user. It is kept, with its reason. Its `outcome` says whether it may have been done, and
 * its `cause` is the last failure, if that was in this tab.
 *
 * @example
 * ```ts
 * if (isDeadLetterError(error)) await outbox.retry(error.idempotencyKey);
 * ```
 */
export class DeadLetterError extends SteadfetchError {
  override readonly name = 'DeadLetterError' as const;
  override readonly code = 'dead-letter' as const;
  readonly reason: DeadReason;
  /** The key of the entry. */
  readonly idempotencyKey: string;
  constructor(entry: EntryFacts, reason: DeadReason, cause: unknown) {
    const { id, handler, lastError } = entry;
    const why = lastError ? `: ${lastError.message}` : '.';
    super(`The outbox cannot deliver this '${handler}' by itself (${reason})${why}`, {
      operation: operationOf(entry),
      outcome: outcomeOf(entry, cause),
      cause,
    });
    this.reason = reason;
    this.idempotencyKey = id;
    report(this);
  }
}

/** Whether a value is a {@link DeadLetterError}, also from another realm or another copy of it. */
export function isDeadLetterError(value: unknown): value is DeadLetterError {
  return isSteadfetchError(value) && value.code === 'dead-letter';
}

export const toDeadLetter = (entry: EntryFacts, cause?: unknown): DeadLetterError =>
  new DeadLetterError(entry, entry.deadReason ?? 'refused', cause);

/** Makes the error of an entry that was discarded before it was known to be delivered. */
export function discarded(entry: EntryFacts): SteadfetchError {
  const { handler, isInDoubt } = entry;
  const what = `This '${handler}' was discarded from the outbox`;
  return endedUnknown(
    entry,
    isInDoubt ? `${what}. Whether it was done is not known.` : `${what} before it was sent.`,
    isInDoubt,
  );
}

/** Makes the error of an entry whose outbox was disposed of before its end was known. */
export function leftBehind(entry: EntryFacts, isDurable: boolean): SteadfetchError {
  let message = `The outbox was disposed of before this '${entry.handler}' was known to be delivered.`;
  message +=
    inDevelopment(() =>
      isDurable
        ? ' It is kept, and sent by another tab or the next page.'
        : ' It was in this page alone, and is sent no more.',
    ) ?? '';
  return endedUnknown(entry, message);
}

/** Makes the error of an entry that is missing, without a message of another tab that says why. */
export function gone(entry: EntryFacts): SteadfetchError {
  let message = `This '${entry.handler}' is no longer in the outbox`;
  message +=
    inDevelopment(
      () =>
        ' (another tab has delivered, edited or discarded it, while this one slept; or its database was deleted).',
    ) ?? '';
  return endedUnknown(entry, message);
}

/** Makes the error of a clear that has left entries on the disk. `isMarked`: this browser remembers that they must be removed. */
export function notCleared(isMarked: boolean, cause: unknown): Error {
  let message = 'outbox.clear: the entries could not be removed from IndexedDB.';
  message +=
    inDevelopment(() =>
      isMarked
        ? ' They are not sent: this browser remembers that they were cleared, and removes them once its database works. Call clear() again to do it now.'
        : ' The Cache API does not work either, so the next page would send them. Call clear() again, and let no other user log in before it resolves.',
    ) ?? '';
  return new Error(message, { cause });
}

export function disposedOf(operation: string): Error {
  let message = `${operation}: the outbox was disposed of.`;
  message +=
    inDevelopment(() => ' Make another: createOutbox({ steady, queryClient, handlers }).') ?? '';
  return new Error(message);
}

function endedUnknown(entry: EntryFacts, message: string, isInDoubt = true): SteadfetchError {
  return report(
    new SteadfetchError(message, {
      operation: operationOf(entry),
      outcome: { kind: 'aborted', processed: isInDoubt ? 'unknown' : 'no' },
    }),
  );
}

/** Keeps the report of an error, so that `outcomeOf` and others find it. */
function report(error: SteadfetchError): SteadfetchError {
  reportFailure(error, {
    failure: error.outcome,
    request: { method: 'POST' },
    decision: { kind: 'stop', reason: 'not-retryable', retryAt: undefined },
  });
  return error;
}

function operationOf(entry: EntryFacts): OperationFacts {
  const { attempts, createdAt } = entry;
  return {
    id: 0,
    kind: 'mutation',
    startedAt: createdAt,
    queryKey: undefined,
    attempt: Math.max(1, attempts),
    method: 'POST',
    url: undefined,
    keyed: !isUnrepeatable(entry),
    idempotent: true,
    retriedFor: [],
    previousBackoffMs: undefined,
    pausedMs: 0,
  };
}

function outcomeOf({ isInDoubt, lastError, createdAt }: EntryFacts, cause: unknown): Failure {
  const processed = isInDoubt ? 'unknown' : 'no';
  const status = lastError?.status;
  if (cause !== undefined) {
    const { failure } = reportOf(cause, createdAt);
    if (failure.kind === 'http') return { ...failure, processed };
    if (failure.processed === processed) return failure;
  }
  return status === undefined
    ? { kind: 'aborted', processed }
    : { kind: 'http', status, retryAfterMs: undefined, inProgress: false, processed };
}

const longestMessage = 200;

/** An error as it is stored: its name, its status, and one line. Never throws, whatever was thrown. */
export function shorten(error: unknown): RowError {
  try {
    const { name, message, status } = Object(error) as Record<string, unknown>;
    const text = typeof message === 'string' ? message : String(error);
    return {
      name: typeof name === 'string' ? name : 'Error',
      message: text.length > longestMessage ? `${text.slice(0, longestMessage - 1)}…` : text,
      ...(typeof status === 'number' && { status }),
    };
  } catch {
    return { name: 'Error', message: 'Something was thrown that cannot be read.' };
  }
}
