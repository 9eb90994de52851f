import { warn } from '../../lib/input/warn.ts';
import { type PastStep, renewRefused } from '../../operation/parts/submission.ts';
import type { HandedOver } from '../../operation/environment.ts';
import type { OperationResult } from '../../operation/events.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Operations } from '../../operation/operations.ts';
import { backoffDelay } from '../../policy/backoff.ts';
import type { Decision } from '../../policy/decide.ts';
import { type SenderContext, sendEntry } from './attempt.ts';
import { readVariables, type Codec, type Unread } from '../codec.ts';
import type { Running } from './due.ts';
import { shorten } from '../errors.ts';
import { type HandlerDefinition, limitOf, nextStepOf } from '../handler.ts';
import type { Receipts } from '../enqueue.ts';
import type { Change, RowStore } from '../store/row-store.ts';
import { type DeadReason, type Fence, laneOf, type Row } from '../store/schema.ts';

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

/** What a page knows of the attempts at its entries, whatever store those are in. */
export interface PageMemory {
  /** The operations of those that wait here for their next attempt. */
  readonly waiting: Map<string, HandedOver>;
  /** Ends the operation of an entry that waits here, or of all: this tab makes no next attempt. */
  readonly endWaiting: (id: string | undefined, result: OperationResult) => void;
  /** Handlers that have ended well and sent nothing through their context. */
  readonly foreign: Set<string>;
  /** The attempts that are under way, or whose ends could not be written yet. */
  readonly underWay: Map<string, UnderWay>;
}

interface UnderWay {
  readonly running: Running;
  readonly made: Promise<Attempt | undefined>;
}

export function createPageMemory({ begin }: Pick<Operations, 'begin'>): PageMemory {
  const waiting: PageMemory['waiting'] = new Map();
  return {
    waiting,
    endWaiting(id, result) {
      for (const one of id === undefined ? [...waiting.keys()] : [id]) {
        const before = waiting.get(one);
        if (before && waiting.delete(one))
          begin('mutation', { attempt: before.attempt, before }).end(result);
      }
    },
    foreign: new Set(),
    underWay: new Map(),
  };
}

export interface AttemptContext {
  readonly sender: SenderContext;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  /** When this page began, in epoch milliseconds. */
  readonly startedAt: number;
  readonly codec: Codec;
  readonly memory: PageMemory;
  readonly note: RowStore['note'];
  /** Who in this tab waits for a result. */
  readonly receipts: Pick<Receipts, 'get'>;
  /** An attempt has begun. */
  readonly onOperation: (entry: Row, operation: Operation) => void;
}

/** Makes an attempt at an entry, and says what is to be written of it. */
export function createAttempt({
  sender,
  handlers,
  startedAt,
  codec,
  memory: { waiting, endWaiting, foreign, underWay },
  note,
  receipts,
  onOperation,
}: AttemptContext): MakeAttempt {
  const { clock, random, operations } = sender;

  const prepare = async (
    entry: Row,
    definition: HandlerDefinition | undefined,
  ): Promise<{ readonly variables: unknown; readonly past: readonly PastStep[] } | Unread> => {
    const read = await readVariables(entry, definition, codec);
    if ('reason' in read) return read;
    // Its tab died while it was under way, and nobody knows its key.
    if (entry.isUnkeyed && !definition?.handler.idempotent) return { reason: 'not-repeatable' };
    try {
      const past = entry.steps === undefined ? [] : await codec.decode(entry.steps);
      if (!isPast(past)) throw new TypeError('What is kept of its requests cannot be read.');
      return { ...read, past: entry.isRedriven ? renewRefused(past) : past };
    } catch (error) {
      return { reason: 'unreadable', error };
    }
  };

  const keep = async (data: unknown): Promise<unknown> => {
    try {
      return await codec.encode('outbox', data);
    } catch {
      if (process.env.NODE_ENV !== 'production') warnOfResult(operations);
      return undefined;
    }
  };

  const make: MakeAttempt = async (running, fence, isUrged) => {
    const { entry } = running;
    const definition = handlers.get(entry.handler);
    const untried = { attempts: entry.attempts - 1 };
    const isBlocking = definition?.handler.onDead !== 'pass';
    const bury = (reason: DeadReason, error: unknown, tried: Partial<Change>): Attempt => {
      const { isInDoubt } = entry;
      const short = error === undefined ? undefined : shorten(error);
      const change = { kind: 'dead', reason, isBlocking, isInDoubt, error: short } as const;
      endWaiting(entry.id, 'failed');
      return {
        entry,
        end: { kind: 'dead', reason, error },
        change: { attempts: entry.attempts, ...change, ...tried } as Change,
      };
    };

    const ready = await prepare(entry, definition);
    // Nothing was tried.
    if ('reason' in ready) {
      const { reason, error } = ready;
      // Whoever has submitted it since this page began can deliver it: that tab may only be put away.
      const isOthers =
        (reason === 'handler-missing' || reason === 'not-migrated') && entry.createdAt > startedAt;
      if (reason !== 'too-new' && !isOthers) return bury(reason, error, untried);
      return { entry, end: { kind: 'too-new' }, change: { kind: 'too-new' } };
    }
    if (!definition) return undefined;
    const spent = isUrged ? undefined : limitOf(entry, definition, clock.now());
    if (spent) return bury(spent, undefined, untried);
    const { variables, past } = ready;
    const keepSteps = async (steps: readonly PastStep[]): Promise<Pick<Row, 'steps'>> =>
      steps.length > 0 ? { steps: await codec.encode('outbox', steps) } : {};
    const before = waiting.get(entry.id);
    waiting.delete(entry.id);
    const made = await sendEntry(sender, running, {
      definition,
      variables,
      isForeign: foreign.has(entry.handler),
      isUrged,
      before,
      past,
      onOperation,
      async note({ isUnkeyed, steps }) {
        const write = async (kept: readonly PastStep[]): Promise<boolean> =>
          note(entry, fence, {
            ...(await keepSteps(kept)),
            isRedriven: false,
            noted: entry.attempts,
            ...(isUnkeyed && { isUnkeyed }),
          });
        try {
          return await write(steps);
        } catch {
          // There may be no room for the bytes, or they cannot be stored: then what they are known by.
          return write(steps.map((step) => ({ ...step, body: undefined })));
        }
      },
      takeBack: () =>
        note(entry, fence, { noted: entry.attempts - 1, isUnkeyed: !!entry.isUnkeyed }),
    });
    if (made.kind === 'dropped') return undefined;
    if (made.kind === 'unsent') throw made.error;
    if (made.kind === 'not-repeatable') return bury(made.kind, undefined, untried);
    if (made.kind === 'done') {
      if (!running.hasAsked && !definition.handler.idempotent) {
        foreign.add(entry.handler);
        if (process.env.NODE_ENV !== 'production') warnOfForeign(operations, entry.handler);
      }
      const isKept = !receipts.get(entry.id);
      const result = isKept ? await keep(made.data) : undefined;
      return {
        entry,
        end: { ...made, variables },
        change: { kind: 'done', result, isKept },
      };
    }
    const { error, decision, isInDoubt, isUnsent } = made;
    const isTimeout = made.wasSent && made.failure.kind === 'timeout';
    const counted = {
      ...(isUnsent && { unsent: (entry.unsent ?? 0) + 1 }),
      ...(isTimeout && { timeouts: (entry.timeouts ?? 0) + 1 }),
    };
    waiting.set(entry.id, made.before);
    // They were kept before they went: what has become of the entry does not hang on it.
    const kept = await keepSteps(made.past).catch(() => ({}));
    const nowMs = clock.now();
    const lane = running.origin ? laneOf(entry.handler, running.origin) : entry.lane;
    const next = nextStepOf(made, { ...entry, ...counted }, definition, {
      nowMs,
      backoffMs: () => backoffDelay({ ...definition.policy, retry: entry.attempts }, random),
    });
    if (next.kind === 'dead') return bury(next.reason, error, { isInDoubt, ...kept });
    const tried = { ...counted, ...kept, error: shorten(error), isInDoubt };
    return {
      entry,
      end: { kind: 'again', error, decision },
      change: { ...next, ...tried, lane, plannedAt: nowMs },
    };
  };
  return async (running, fence, isUrged) => {
    const { id, attempts } = running.entry;
    const earlier = underWay.get(id);
    if (earlier) {
      // Its database was closed or deleted meanwhile, so its end is not written: that attempt is this one.
      const { signal } = running.controller;
      signal.addEventListener('abort', () => earlier.running.controller.abort(signal.reason));
      running.operation = earlier.running.operation;
      const made = await earlier.made.catch(() => {});
      const again = attempts - earlier.running.entry.attempts;
      // What another has tried since has another end, unless it was done before.
      if (made && (again < 2 || made.change.kind === 'done'))
        return again > 0 ? recount(made, earlier.running.entry) : made;
    }
    const forget = (): void => {
      if (underWay.get(id)?.made === made) underWay.delete(id);
    };
    const made = make(running, fence, isUrged).then((attempt) => {
      if (!attempt) forget();
      return attempt && { ...attempt, onWritten: forget };
    });
    made.catch(forget);
    underWay.set(id, { running, made });
    return made;
  };
}

/** The entry was claimed once more, to write this end of it: that was no attempt. */
function recount(made: Attempt, { unsent = 0 }: Row): Attempt {
  const { change } = made;
  if (!('attempts' in change)) return made;
  const counted = { attempts: change.attempts + 1, unsent: (change.unsent ?? unsent) + 1 };
  return { ...made, change: { ...change, ...counted } };
}

/** @returns undefined where nothing is to be written: nobody wants it any more, or it is another tab's. */
type MakeAttempt = (
  running: Running,
  fence: Fence,
  isUrged: boolean,
) => Promise<Attempt | undefined>;

const isPast = (value: unknown): value is readonly PastStep[] =>
  Array.isArray(value) && value.every((step) => typeof Object(step).id === 'string');

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
