import { createIdempotencyKey, type PauseReason } from '../core/internal.ts';
import { needsNewKey } from './errors.ts';
import type { Clock } from '../core/lib/clock.ts';
import { readVariables } from './codec.ts';
import { scopeOf } from './handler.ts';
import type { Forget } from './clear.ts';
import type { OutboxParts } from './delivery/engine.ts';
import { keepResultMs, keysOf } from './store/linked.ts';
import { isInPage } from './store/memory.ts';
import { type Settled, pageSize } from './store/row-store.ts';
import { type DeadReason, type Row, type RowError, type RowState, untried } from './store/row.ts';

/** Selects entries. */
export interface OutboxFilter<THandler extends string = string> {
  readonly state?: EntryState | undefined;
  readonly handler?: THandler | undefined;
  readonly scope?: string | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
}

/** The entries as a user sees them, and the actions on them. */
export class Entries {
  readonly #parts: OutboxParts;
  readonly #forget: Forget;
  /** The latest edit of each entry. */
  readonly #edits: Map<string, Promise<string | undefined>> = new Map();

  constructor(parts: OutboxParts, forget: Forget) {
    this.#parts = parts;
    this.#forget = forget;
  }

  readonly list = async ({ state, handler, scope, limit = pageSize }: OutboxFilter = {}): Promise<
    readonly OutboxEntry[]
  > => {
    const { storage, engine, pauses } = this.#parts;
    await storage.ready();
    const found: Row[] = [];
    const kept = state === 'paused' ? 'sending' : state;
    for await (const entry of engine.store.all(kept)) {
      if (found.length >= limit) break;
      const shown = pauses.of(entry) ? 'paused' : entry.state;
      const isWanted =
        !this.#isOver(entry) &&
        (state ?? shown) === shown &&
        (handler ?? entry.handler) === entry.handler &&
        (scope ?? entry.scope) === entry.scope;
      if (isWanted) found.push(entry);
    }
    return Promise.all(found.map((entry) => this.#show(entry)));
  };

  readonly find = async (id: string): Promise<OutboxEntry | undefined> => {
    const entry = await this.#find(id);
    return entry && !this.#isOver(entry) ? this.#show(entry) : undefined;
  };

  /** Whether it is kept only because another entry may refer to its answer. */
  #isOver({ isRead, doneAt = Infinity }: Row): boolean {
    return !!isRead || doneAt + keepResultMs < this.#parts.clock.now();
  }

  /** @returns the key under which it is sent now; undefined if there is nothing to retry. */
  readonly retry = (id: string): Promise<string | undefined> =>
    this.#send(id, (known) => redrive(known, this.#parts.clock));

  readonly retryAll = async (): Promise<void> => {
    const { storage, engine, clock } = this.#parts;
    await storage.ready();
    for await (const { id, deadReason } of engine.store.all('dead'))
      // It would undo what was done since: only a user who means this one sends it again.
      if (deadReason !== 'superseded') await this.#send(id, (known) => redriveSafely(known, clock));
  };

  /** Edits an entry. Of several edits at once the last one wins, however long a cipher takes. `submitted`: the entry may not be stored yet. */
  async edit(
    id: string,
    variables: unknown,
    submitted: Promise<unknown>,
  ): Promise<string | undefined> {
    const sealing = this.#parts.codec.encode('outbox.edit', variables);
    const shown = submitted.then(() => this.#find(id));
    const edited = Promise.all([shown, sealing]).then(
      ([entry, sealed]): Promise<string | undefined> => {
        const latest = this.#edits.get(id);
        return latest && latest !== edited
          ? latest
          : this.#edit(id, variables, sealed, !!entry?.isInDoubt);
      },
    );
    this.#edits.set(id, edited);
    return edited;
  }

  /** `wasInDoubt`: the user saw that it may have been done. */
  async #edit(
    id: string,
    variables: unknown,
    sealed: unknown,
    wasInDoubt: boolean,
  ): Promise<string | undefined> {
    const { clock, engine, handlers, links } = this.#parts;
    return this.#change(id, async (entry) => {
      const definition = handlers.get(entry.handler);
      const ofHandler = definition && {
        version: definition.version,
        scope: scopeOf('outbox.edit', definition, variables),
        ...links?.begin(definition, variables),
      };
      const none = { parents: undefined, thing: undefined };
      const given = { ...entry, ...none, variables: sealed, ...ofHandler };
      const edited = (await links?.refresh(given, this.#parts, engine.store.read)) ?? given;
      const { version, scope, parents, thing, variables: now } = edited;
      const as = (known: Row): Row | undefined =>
        known.isInDoubt && !wasInDoubt
          ? undefined
          : { ...renew(known, clock), version, scope, parents, thing, variables: now };
      return this.#revive(id, as);
    });
  }

  /** @returns whether there was something to discard. `error`: the error of its submission. */
  async discard(id: string, error?: unknown): Promise<boolean> {
    const { clock, others, storage, engine } = this.#parts;
    await storage.ready();
    const found = await storage.writeShown(() => engine.store.discard(id, clock.now()));
    if (!found || found.row.isRead) return false;
    const { row: entry } = found;
    const isInDoubt = entry.isInDoubt || entry.state === 'sending' || entry.state === 'done';
    this.#forget.one(entry.id, { ...entry, isInDoubt }, error);
    others.post({ kind: 'discarded', id: entry.id, isInDoubt });
    this.#parts.onFollow(found);
    this.#parts.onChange();
    return true;
  }

  async #show(entry: Row): Promise<OutboxEntry> {
    const { pauses, codec, handlers } = this.#parts;
    const { state, isInDoubt, deadReason } = entry;
    const isSending = state === 'sending';
    const pause = pauses.of(entry);
    const open = (sealed: unknown): Promise<unknown> => codec.decode(sealed).catch(() => undefined);
    const definition = handlers.get(entry.handler);
    const read = definition
      ? await readVariables(entry, definition, codec)
      : { variables: await open(entry.variables) };
    const isDone = state === 'done' || deadReason === 'answer-lost';
    const mayBeDone = isInDoubt || isSending;
    return {
      idempotencyKey: entry.id,
      handler: entry.handler,
      variables: 'reason' in read ? undefined : read.variables,
      scope: entry.scope,
      state: pause ? 'paused' : state,
      createdAt: entry.createdAt,
      attempts: entry.attempts,
      lastAttemptAt: entry.lastAttemptAt,
      nextRetryAt: entry.nextRetryAt,
      lastError: entry.lastError,
      processed: isDone ? 'yes' : mayBeDone ? 'unknown' : 'no',
      waitsFor: entry.waitsFor,
      refersTo: entry.parents ?? [],
      reason: deadReason,
      pause,
      sentBy: this.#sentBy(entry),
      data: state === 'done' ? await open(entry.result) : undefined,
      isDurable: !isInPage(entry),
    };
  }

  #sentBy({ seq, state, owner }: Row): OutboxEntry['sentBy'] {
    if (state !== 'sending') return undefined;
    const isOurs = isInPage({ seq }) || this.#parts.engine.ownership.isHeld(owner);
    return isOurs ? 'this-tab' : 'another-tab';
  }

  async #find(id: string): Promise<Row | undefined> {
    await this.#parts.storage.ready();
    return this.#parts.engine.store.find(id);
  }

  async #change(
    id: string,
    act: (entry: Row) => Promise<Settled | undefined>,
  ): Promise<string | undefined> {
    const { memory, receipts, others, onDue, onFollow, onChange } = this.#parts;
    const entry = await this.#find(id);
    if (!entry) return undefined;
    const settled = await act(entry);
    const after = settled?.row;
    if (!after) return undefined;
    if (after.id !== entry.id) {
      memory.endWaiting(entry.id, 'cancelled');
      receipts.rename(entry.id, after.id, after);
      others.post({ kind: 'renamed', id: entry.id, next: after.id });
    }
    onDue(after, true);
    onFollow(settled);
    onChange();
    return after.id;
  }

  #revive(id: string, as: (entry: Row) => Row | undefined): Promise<Settled | undefined> {
    const { storage, engine } = this.#parts;
    return storage.writeShown(() => engine.revive(id, as));
  }

  #send(id: string, as: (known: Row) => Row): Promise<string | undefined> {
    return this.#change(id, async (entry) =>
      entry.state === 'sending' ? { row: entry, next: undefined } : this.#revive(id, as),
    );
  }
}

/** The row of a dead letter that a user sends again. If its key is of no use any more, it gets a new one. */
function redrive(entry: Row, clock: Clock): Row {
  const isNew = entry.state === 'dead' && needsNewKey(entry.deadReason);
  return isNew ? renew(entry, clock) : redriveSafely(entry, clock);
}

/** The same for many at once. An entry that may have been done keeps its key. */
function redriveSafely(entry: Row, clock: Clock): Row {
  if (entry.state !== 'dead') return entry;
  const { deadReason, isInDoubt, redrives } = entry;
  // If nothing was done, the API may have stored the refusal under the key.
  if (deadReason === 'refused' && !isInDoubt) return renew(entry, clock);
  const again = { isUnkeyed: false, isRestored: false, isRedriven: true };
  return { ...entry, ...again, redrives: redrives + (isInDoubt ? 1 : 0) };
}

/** The same as a new submission: nothing was tried under its key. */
function renew(entry: Row, clock: Clock): Row {
  const id = createIdempotencyKey();
  const fresh = { id, createdAt: clock.now(), aheadMs: undefined, formerIds: keysOf(entry) };
  return { ...entry, ...untried, ...fresh, claims: entry.claims };
}

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

/** A submission in the outbox, as it is shown to a user. */
export interface OutboxEntry<TVariables = unknown, TData = unknown> {
  /** Identifies the entry, and is the key of its requests. */
  readonly idempotencyKey: string;
  readonly handler: string;
  /**
   * The variables as the handler takes them: if an earlier version of the app wrote them, after `migrate`. Undefined if
   * they cannot be read, because `decrypt` rejects, `migrate` is missing or throws, or a later version wrote them. If the
   * handler is missing, they are as they were written.
   */
  readonly variables: TVariables | undefined;
  readonly scope: string | undefined;
  readonly state: EntryState;
  /** In epoch milliseconds, as all times. */
  readonly createdAt: number;
  /** How many attempts were made, in all tabs: those that sent a request, or failed without one. */
  readonly attempts: number;
  /** When the last attempt failed; while one is under way, when it began. */
  readonly lastAttemptAt: number | undefined;
  /** When it is sent next; undefined while it waits for an older entry of its scope, and after its end. */
  readonly nextRetryAt: number | undefined;
  readonly lastError: RowError | undefined;
  /** Whether the server has done it. */
  readonly processed: 'no' | 'yes' | 'unknown';
  /**
   * A newer version of the app has submitted it, and this one cannot deliver it: a tab of that version does, or
   * the next page. Undefined for all others.
   */
  readonly waitsFor: 'other-version' | undefined;
  /** The keys of the entries whose answers it refers to, and is sent after: see `answerOf`. */
  readonly refersTo: readonly string[];
  /** Why it needs a user; undefined unless it is `dead`. */
  readonly reason: DeadReason | undefined;
  /** Why its attempt waits before it is sent, in any tab; undefined unless it is `paused`. */
  readonly pause:
    | { readonly reason: PauseReason; readonly retryAt: number | undefined }
    | undefined;
  /**
   * The tab of its attempt; undefined unless it is `sending` or `paused`. If that tab dies, another one takes the entry
   * over within two minutes.
   */
  readonly sentBy: 'this-tab' | 'another-tab' | undefined;
  /** The result, once it is `done`. */
  readonly data: TData | undefined;
  /** Whether it is on the disk. If not, it is lost with this page. */
  readonly isDurable: boolean;
}
