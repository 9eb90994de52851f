import { warn } from '../../lib/input/warn.ts';
import type { OperationResult } from '../../operation/events.ts';
import type { HandedOver } from '../../operation/owner.ts';
import type { PastStep } from '../../operation/parts/submission.ts';
import { backoffDelay } from '../../policy/backoff.ts';
import type { Decision } from '../../policy/decide.ts';
import type { Attempted, SenderContext } from './attempt.ts';
import type { Codec, Unread } from '../codec.ts';
import type { Running } from './due.ts';
import type { Receipts } from '../enqueue.ts';
import { shorten } from '../errors.ts';
import { type HandlerDefinition, nextStepOf } from '../handler.ts';
import type { Change } from '../store/transitions.ts';
import { type DeadReason, type Row, laneOf } from '../store/row.ts';

/** How an entry has ended, or that it has not. */
export type EntryEnd =
  | { readonly kind: 'done'; readonly data: unknown; readonly variables: unknown }
  | { readonly kind: 'dead'; readonly reason: DeadReason; readonly error: unknown }
  /** It has not: this version of the app does not understand it. */
  | { readonly kind: 'too-new' }
  | { readonly kind: 'again'; readonly error: unknown; readonly decision: Decision };

/** What one attempt at an entry has come to, and what is to be written of it. */
export interface Attempt {
  readonly entry: Row;
  readonly end: EntryEnd;
  readonly change: Change;
  /** It is written, or not ours to write any more. */
  readonly onWritten?: () => void;
}

/** What a page knows of the attempts at its entries. */
export interface EntryMemory {
  /** The operations of those that wait here for their next attempt. */
  readonly waiting: Map<string, HandedOver>;
  /** Ends the operation of an entry that waits here, or of all: this tab makes no next attempt. */
  readonly endWaiting: (id: string | undefined, result: OperationResult) => void;
  /** Handlers that have ended well and sent nothing through their context. */
  readonly foreign: Set<string>;
}

/** What the end of an attempt is written by. */
export interface EndContext {
  readonly sender: Pick<SenderContext, 'clock' | 'random' | 'operations'>;
  readonly codec: Codec;
  readonly memory: EntryMemory;
  /** When this page began, in epoch milliseconds. */
  readonly startedAt: number;
  /** What in this tab waits for a result. */
  readonly receipts: Pick<Receipts, 'get'>;
}

/** Nothing was tried: the claim of the entry was no attempt. */
export const unclaimed = ({ attempts }: Row): Pick<Row, 'attempts'> => ({ attempts: attempts - 1 });

export async function encodeSteps(
  codec: Codec,
  steps: readonly PastStep[],
): Promise<{ readonly steps?: unknown }> {
  return steps.length > 0 ? { steps: await codec.encode('outbox', steps) } : {};
}

/** What is written of an entry that becomes a dead letter. */
interface Burial extends Partial<Pick<Row, 'attempts' | 'isInDoubt' | 'steps'>> {
  readonly reason: DeadReason;
  readonly error?: unknown;
}

/** The entry is a dead letter: it needs a user. */
export function bury(
  { memory }: EndContext,
  definition: HandlerDefinition | undefined,
  entry: Row,
  { reason, error, ...tried }: Burial,
): Attempt {
  const { id, attempts, isInDoubt } = entry;
  memory.endWaiting(id, 'failed');
  return {
    entry,
    end: { kind: 'dead', reason, error },
    change: {
      attempts,
      kind: 'dead',
      reason,
      isBlocking: reason !== 'superseded' && definition?.handler.onDead !== 'pass',
      isInDoubt,
      error: error === undefined ? undefined : shorten(error),
      ...tried,
    },
  };
}

/** It could not be sent as it is: nothing was tried. */
export function endUnready(
  context: EndContext,
  definition: HandlerDefinition | undefined,
  entry: Row,
  { reason, error }: Unread,
): Attempt {
  // A tab that has submitted it since this page began can deliver it: that may only be put away.
  const isOthers =
    (reason === 'handler-missing' || reason === 'not-migrated') &&
    entry.createdAt > context.startedAt;
  if (reason !== 'too-new' && !isOthers)
    return bury(context, definition, entry, { reason, error, ...unclaimed(entry) });
  return { entry, end: { kind: 'too-new' }, change: { kind: 'too-new' } };
}

/** It was delivered. Its result is kept where nothing in this tab waits for it. */
export async function endDone(
  { sender: { operations }, codec, memory: { foreign }, receipts }: EndContext,
  definition: HandlerDefinition,
  { entry, hasAsked }: Running,
  done: { readonly data: unknown; readonly variables: unknown },
): Promise<Attempt> {
  if (!hasAsked && !definition.handler.idempotent) {
    foreign.add(entry.handler);
    if (process.env.NODE_ENV !== 'production') warnOfForeign(operations, entry.handler);
  }
  const isKept = !receipts.get(entry.id);
  const result = isKept ? await encodeResult(codec, done.data, operations) : undefined;
  return { entry, end: { kind: 'done', ...done }, change: { kind: 'done', result, isKept } };
}

async function encodeResult(codec: Codec, data: unknown, key: object): Promise<unknown> {
  try {
    return await codec.encode('outbox', data);
  } catch {
    if (process.env.NODE_ENV !== 'production') warnOfResult(key);
    return undefined;
  }
}

/** It has failed: another attempt follows, or it becomes a dead letter. */
export async function endFailed(
  context: EndContext,
  definition: HandlerDefinition,
  { entry, origin }: Running,
  failed: Extract<Attempted, { kind: 'failed' }>,
): Promise<Attempt> {
  const { sender, memory, codec } = context;
  const { clock, random } = sender;
  const { error, decision, isInDoubt, isUnsent } = failed;
  const isTimeout = failed.wasSent && failed.failure.kind === 'timeout';
  const counted = {
    ...(isUnsent && { unsent: entry.unsent + 1 }),
    ...(isTimeout && { timeouts: entry.timeouts + 1 }),
  };
  memory.waiting.set(entry.id, failed.before);
  // They were kept before they went: what has become of the entry does not hang on it.
  const kept = await encodeSteps(codec, failed.past).catch(() => ({}));
  const nowMs = clock.now();
  const next = nextStepOf(failed, { ...entry, ...counted }, definition, {
    nowMs,
    backoffMs: () => backoffDelay({ ...definition.policy, retry: entry.attempts }, random),
  });
  if (next.kind === 'dead') {
    // The next press of "Send again" would end in the same.
    const isFruitless = isInDoubt && (failed.isStuck || entry.redrives > 0);
    const reason = isFruitless && hasTold(next.reason) ? 'cannot-find-out' : next.reason;
    return bury(context, definition, entry, { reason, error, isInDoubt, ...kept });
  }
  const lane = origin ? laneOf(entry.handler, origin) : entry.lane;
  const tried = { ...counted, ...kept, error: shorten(error), isInDoubt };
  return {
    entry,
    end: { kind: 'again', error, decision },
    change: { ...next, ...tried, lane, plannedAt: nowMs },
  };
}

/** Whether an entry ended so by what its attempts have shown, and not by what it is. */
const hasTold = (reason: DeadReason): boolean =>
  reason === 'refused' || reason === 'max-attempts' || reason === 'max-age';

function warnOfForeign(key: object, handler: string): void {
  warn(
    key,
    `foreign ${handler}`,
    `The outbox handler '${handler}' has ended well and sent nothing with the fetch or json of its context. What it ` +
      `sends otherwise has no idempotency key: should its page die meanwhile, its entry is a dead letter from now on ` +
      `('not-repeatable'), because sent once more it could be done twice. Send it with the context's fetch or json, ` +
      `also after an await; or say idempotent: true where all of it may be done twice.`,
  );
}

function warnOfResult(key: object): void {
  warn(
    key,
    'outbox result',
    `An outbox handler has returned something that cannot be stored. Its entry is delivered, but a tab ` +
      `that asks for its result later gets undefined. Return plain values: JSON, Date, Map, Blob.`,
  );
}
