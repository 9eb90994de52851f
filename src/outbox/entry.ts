import type { HoldReason } from '../policy/outcome.ts';
import type { HandlerDefinition } from './define-handlers.ts';
import { DeadLetterError } from './errors.ts';
import { readVariables } from './read-variables.ts';
import type { Running } from './running.ts';
import type { DeadReason, Row, RowError, RowState } from './row.ts';
import type { Seal } from './seal.ts';

/** A submission in the outbox, as a person is shown it. */
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
  readonly state: RowState;
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
  /** Why it needs a person; undefined unless it is dead. */
  readonly reason: DeadReason | undefined;
  /** What an attempt of this tab waits for before it is sent. */
  readonly hold: { readonly reason: HoldReason; readonly retryAt: number | undefined } | undefined;
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
  running: Running | undefined,
): Promise<OutboxEntry> {
  const open = (sealed: unknown): Promise<unknown> => seal.open(sealed).catch(() => undefined);
  const read = definition
    ? await readVariables(row, definition, seal)
    : { variables: await open(row.variables) };
  const { state, isInDoubt, deadReason } = row;
  const hold = running?.live?.holds[0];
  return {
    idempotencyKey: row.id,
    handler: row.handler,
    variables: 'reason' in read ? undefined : read.variables,
    scope: row.scope,
    state,
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
    reason: deadReason,
    hold: hold?.held,
    data: state === 'done' ? await open(row.result) : undefined,
    isDurable,
  };
}

/** What a dead row is told as. */
export function toDeadLetter(row: Row, cause?: unknown): DeadLetterError {
  return new DeadLetterError(row, row.deadReason ?? 'refused', cause);
}
