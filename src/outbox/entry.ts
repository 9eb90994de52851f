import type { Pause } from '../origin/wait-queue.ts';
import type { PauseReason } from '../policy/outcome.ts';
import type { HandlerDefinition } from './define-handlers.ts';
import { DeadLetterError } from './errors.ts';
import { readVariables } from './read-variables.ts';
import type { DeadReason, Row, RowError, RowState } from './store/schema.ts';
import type { Seal } from './seal.ts';

/**
 * | state | meaning |
 * |---|---|
 * | `pending` | to be sent: at `nextRetryAt`, or after the older ones of its scope |
 * | `paused` | its attempt has begun, and waits before it is sent: `pause` says for what |
 * | `sending` | an attempt is under way, or was when its tab died |
 * | `done` | delivered; its result is kept for the tab that submitted it |
 * | `dead` | it needs a user |
 */
export type EntryState = RowState | 'paused';

/** A submission in the outbox, as a user is shown it. */
export interface OutboxEntry<TVariables = unknown, TData = unknown> {
  /** By which it is asked for, retried and discarded; also that of its requests. */
  readonly idempotencyKey: string;
  readonly handler: string;
  /**
   * As its handler takes them, also where an earlier version of the app has written them: after
   * `migrate`. Undefined where they cannot be read, because `decrypt` rejects, `migrate` is missing or
   * throws, or a later version has written them. Of a handler that is missing they are as they were.
   */
  readonly variables: TVariables | undefined;
  readonly scope: string | undefined;
  readonly state: EntryState;
  /** In epoch milliseconds, as all times. */
  readonly createdAt: number;
  /** Attempts made so far, in whatever tab. */
  readonly attempts: number;
  readonly lastAttemptAt: number | undefined;
  /** When it is sent next; undefined while it waits behind an older one of its scope, and at its end. */
  readonly nextRetryAt: number | undefined;
  readonly lastError: RowError | undefined;
  /** Whether the server has done it. */
  readonly processed: 'no' | 'yes' | 'unknown';
  /**
   * A newer version of the app has submitted it, and this one does not understand it: a tab of that
   * version delivers it. Undefined for all others.
   */
  readonly waitsFor: 'newer-version' | undefined;
  /** Why it needs a user; undefined unless it is dead. */
  readonly reason: DeadReason | undefined;
  /** What its attempt waits for before it is sent, in whatever tab; undefined unless it is `paused`. */
  readonly pause:
    | { readonly reason: PauseReason; readonly retryAt: number | undefined }
    | undefined;
  /** The result, once it is `done`. */
  readonly data: TData | undefined;
  /** Whether it is on the disk. Where it is not, it is gone with this page. */
  readonly isDurable: boolean;
}

/** Shows a row. */
export async function toEntry(
  row: Row,
  isDurable: boolean,
  definition: HandlerDefinition | undefined,
  seal: Seal,
  pause: Pause | undefined,
): Promise<OutboxEntry> {
  const open = (sealed: unknown): Promise<unknown> => seal.open(sealed).catch(() => undefined);
  const read = definition
    ? await readVariables(row, definition, seal)
    : { variables: await open(row.variables) };
  const { state, isInDoubt, deadReason } = row;
  return {
    idempotencyKey: row.id,
    handler: row.handler,
    variables: 'reason' in read ? undefined : read.variables,
    scope: row.scope,
    state: pause ? 'paused' : state,
    createdAt: row.createdAt,
    attempts: row.attempts,
    lastAttemptAt: row.lastAttemptAt,
    nextRetryAt: row.nextRetryAt,
    lastError: row.lastError,
    processed:
      state === 'done' || deadReason === 'answer-lost'
        ? 'yes'
        : isInDoubt || state === 'sending'
          ? 'unknown'
          : 'no',
    waitsFor: row.waitsFor,
    reason: deadReason,
    pause,
    data: state === 'done' ? await open(row.result) : undefined,
    isDurable,
  };
}

/** What a dead row is told as. */
export function toDeadLetter(row: Row, cause?: unknown): DeadLetterError {
  return new DeadLetterError(row, row.deadReason ?? 'refused', cause);
}
