import { inDevelopment } from '../../core/lib/development.ts';
import { warn } from '../../core/lib/input/warn.ts';
import { backoffDelay, renewRefused, type Operation, type PastStep } from '../../core/internal.ts';
import { type Codec, readVariables, type Unread } from '../codec.ts';
import { shorten } from '../errors.ts';
import { type HandlerDefinition, isInProgress, limitOf, nextStepOf } from '../handler.ts';
import { type DeadReason, lacksAnswer, laneOf, type Row } from '../store/row.ts';
import type { RowStore } from '../store/row-store.ts';
import type { Fence } from '../store/schema.ts';
import { encodeSteps, EntryAttempt, type FailedAttempt } from './attempt.ts';
import type { Running } from './due.ts';
import type { Attempt, OutboxPage, UnderWay } from './page.ts';

interface Burial extends Partial<Pick<Row, 'attempts' | 'isInDoubt' | 'steps'>> {
  readonly reason: DeadReason;
  readonly error?: unknown;
}

/** Makes attempts at entries, and decides what is written about their ends. */
export class Delivery {
  readonly #page: OutboxPage;
  readonly #store: Pick<RowStore, 'recordRequest' | 'read'>;
  readonly #onChange: (entry: Row, operation: Operation) => void;

  constructor(
    page: OutboxPage,
    store: Pick<RowStore, 'recordRequest' | 'read'>,
    onChange: (entry: Row, operation: Operation) => void,
  ) {
    this.#page = page;
    this.#store = store;
    this.#onChange = onChange;
  }

  /** @returns undefined if nothing is to be written, because it is no longer wanted, or another tab has it. */
  attempt(running: Running, fence: Fence, isUrged: boolean): Promise<Attempt | undefined> {
    const { underWay } = this.#page.memory;
    const { id } = running.entry;
    const forget = (): void => {
      if (underWay.get(id)?.made === made) underWay.delete(id);
    };
    const made = this.#makeAfter(underWay.get(id), running, fence, isUrged).then((attempt) => {
      if (!attempt) forget();
      return attempt && { ...attempt, onWritten: forget };
    });
    made.catch(forget);
    underWay.set(id, { running, made });
    return made;
  }

  /** Makes an attempt after an earlier one of the same entry, whose end could not be written, because its database was closed or deleted. */
  async #makeAfter(
    earlier: UnderWay | undefined,
    running: Running,
    fence: Fence,
    isUrged: boolean,
  ): Promise<Attempt | undefined> {
    if (!earlier) return this.#make(running, fence, isUrged);
    const { entry, controller, operation } = earlier.running;
    const { signal } = running.controller;
    signal.addEventListener('abort', () => controller.abort(signal.reason));
    running.begin(operation);
    const made = await earlier.made.catch(() => {});
    const again = running.entry.claims - entry.claims;
    // Another tab may have made an attempt since, with another end, unless this one has succeeded.
    if (made && (again < 2 || made.change.kind === 'done')) return made;
    // A later attempt waits for this one, and goes on instead.
    const isLatest = this.#page.memory.underWay.get(running.entry.id)?.running === running;
    return isLatest ? this.#make(running, fence, isUrged) : undefined;
  }

  async #make(running: Running, fence: Fence, isUrged: boolean): Promise<Attempt | undefined> {
    const { clock, sender, handlers, codec, memory, links } = this.#page;
    const { entry } = running;
    const definition = handlers.get(entry.handler);
    const fill =
      links && ((variables: unknown) => links.fill(variables, entry, codec, this.#store.read));
    const ready = await prepare(codec, entry, definition, fill);
    if ('reason' in ready) return this.#endUnready(definition, entry, ready);
    if (!definition) return undefined;
    const spent = isUrged ? undefined : limitOf(entry, definition, clock.now());
    if (spent) return this.#bury(definition, entry, { reason: spent });
    const sent = await new EntryAttempt(sender, running, {
      ...ready,
      store: this.#store,
      fence,
      codec,
      definition,
      isForeign: memory.foreign.has(entry.handler),
      isUrged,
      before: memory.takeWaiting(entry.id),
      onChange: this.#onChange,
    }).send();
    if (sent.kind === 'dropped') return undefined;
    if (sent.kind === 'unsent') throw sent.error;
    if (sent.kind === 'not-repeatable') return this.#bury(definition, entry, { reason: sent.kind });
    return sent.kind === 'done'
      ? this.#endDone(definition, running, { data: sent.data, variables: ready.variables })
      : this.#endFailed(definition, running, sent);
  }

  #bury(
    definition: HandlerDefinition | undefined,
    entry: Row,
    { reason, error, ...tried }: Burial,
  ): Attempt {
    const { id, attempts, isInDoubt } = entry;
    this.#page.memory.endWaiting(id, 'failed');
    return {
      entry,
      error,
      change: {
        attempts,
        kind: 'dead',
        reason,
        isBlocking: !isPassed(reason) && definition?.handler.onDead !== 'pass',
        isInDoubt,
        error: error === undefined ? undefined : shorten(error),
        ...tried,
      },
    };
  }

  /** Ends an entry that cannot be sent as it is. Nothing was tried. */
  #endUnready(
    definition: HandlerDefinition | undefined,
    entry: Row,
    { reason, error }: Unread,
  ): Attempt {
    return reason === 'too-new'
      ? { entry, change: { kind: 'too-new' } }
      : this.#bury(definition, entry, { reason, error });
  }

  async #endDone(
    definition: HandlerDefinition,
    { entry, hasAsked }: Running,
    done: { readonly data: unknown; readonly variables: unknown },
  ): Promise<Attempt> {
    const { sender, codec, memory, receipts, links } = this.#page;
    const { operations } = sender;
    if (!hasAsked && !definition.handler.idempotent) {
      memory.foreign.add(entry.handler);
      inDevelopment(() => warnOfForeign(operations, entry.handler));
    }
    const isRead = !!receipts.get(entry.id);
    // With links, other entries may refer to it.
    const isKept = !isRead || !!links;
    const { data } = done;
    const result = isKept ? await encodeResult(codec, data, operations) : undefined;
    return { entry, delivered: done, change: { kind: 'done', result, data, isKept, isRead } };
  }

  /** Ends a failed attempt: another one follows, or the entry becomes a dead letter. */
  async #endFailed(
    definition: HandlerDefinition,
    { entry, origin }: Running,
    failed: FailedAttempt,
  ): Promise<Attempt> {
    const { clock, sender, memory } = this.#page;
    const { random } = sender;
    const { error, decision, isInDoubt } = failed;
    const isTimeout = failed.wasSent && failed.failure.kind === 'timeout';
    const timeouts = entry.timeouts + (isTimeout ? 1 : 0);
    memory.wait(entry.id, failed.before);
    // The steps were stored before they were sent, so an error here does not matter.
    const kept = await encodeSteps(this.#page.codec, failed.unstored).catch(() => ({}));
    const nowMs = clock.now();
    const retry = failed.isUnsent ? entry.claims : entry.attempts + 1;
    const next = nextStepOf(failed, entry, definition, {
      nowMs,
      backoffMs: () => backoffDelay({ ...definition.policy, retry }, random),
    });
    if (next.kind === 'dead') {
      // The next press of "Send again" would have the same result.
      const isFruitless = isInDoubt && (failed.isStuck || entry.redrives > 0);
      const reason = isFruitless && hasTold(next.reason) ? 'cannot-find-out' : next.reason;
      const attempts = entry.attempts + 1;
      return this.#bury(definition, entry, { reason, error, attempts, isInDoubt, ...kept });
    }
    const lane = origin ? laneOf(entry.handler, origin) : entry.lane;
    const isUntouched = !failed.wasSent && !failed.isUnsent;
    const conflicts = isInProgress(failed) ? entry.conflicts + 1 : 0;
    const tried = { timeouts, conflicts, isUntouched, ...kept, error: shorten(error), isInDoubt };
    return {
      entry,
      error,
      decision,
      change: { ...next, ...tried, lane, decidedAt: nowMs },
    };
  }
}

/** The variables of an entry and its requests so far; or why it cannot be sent. */
async function prepare(
  codec: Codec,
  entry: Row,
  definition: HandlerDefinition | undefined,
  fill: ((variables: unknown) => Promise<unknown>) | undefined,
): Promise<{ readonly variables: unknown; readonly past: readonly PastStep[] } | Unread> {
  const read = await readVariables(entry, definition, codec, fill);
  if ('reason' in read) return read;
  // The tab died during an attempt without a key.
  if (entry.isUnkeyed && !definition?.handler.idempotent) return { reason: 'not-repeatable' };
  try {
    const past = entry.steps === undefined ? [] : await codec.decode(entry.steps);
    if (!isPast(past)) throw new TypeError('What is kept of its requests cannot be read.');
    return { ...read, past: entry.isRedriven ? renewRefused(past) : past };
  } catch (error) {
    return { reason: 'unreadable', error };
  }
}

/** Whether a dead letter does not block its scope: no user decides about it, or the others are right without it. */
const isPassed = (reason: DeadReason): boolean => reason === 'superseded' || lacksAnswer(reason);

const isPast = (value: unknown): value is readonly PastStep[] =>
  Array.isArray(value) && value.every((step) => typeof Object(step).id === 'string');

async function encodeResult(codec: Codec, data: unknown, key: object): Promise<unknown> {
  try {
    return await codec.encode('outbox', data);
  } catch {
    inDevelopment(() => warnOfResult(key));
    return undefined;
  }
}

/** Whether an entry ended because of what its attempts have shown, and not because of what it is. */
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
    'outbox.md#anti-patterns',
  );
}

function warnOfResult(key: object): void {
  warn(
    key,
    'outbox result',
    `An outbox handler has returned something that cannot be stored. Its entry is delivered, but a tab ` +
      `that asks for its result later gets undefined. Return plain values: JSON, Date, Map, Blob.`,
    'outbox/storage.md#what-is-on-the-disk',
  );
}
