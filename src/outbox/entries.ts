import { createIdempotencyKey } from '../idempotency/key.ts';
import { needsNewKey } from './errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { PauseReason } from '../policy/outcome.ts';
import { readVariables, type Codec } from './codec.ts';
import type { PageMemory } from './delivery/deliver.ts';
import type { Engine } from './delivery/engine.ts';
import { type HandlerDefinition, scopeOf } from './handler.ts';
import type { Forget } from './clear.ts';
import type { OtherTabs, PausedEntries } from './messages.ts';
import type { Receipts } from './enqueue.ts';
import type { EntryStorage } from './storage.ts';
import { type Settled, pageSize, pagesOf } from './store/row-store.ts';
import { type DeadReason, type Row, type RowError, type RowState, untried } from './store/row.ts';

/** Which entries are asked for. */
export interface OutboxFilter<THandler extends string = string> {
  readonly state?: EntryState | undefined;
  readonly handler?: THandler | undefined;
  readonly scope?: string | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
}

/** What a user sees of the entries, and does with them. */
export interface Entries {
  readonly list: (filter?: OutboxFilter) => Promise<readonly OutboxEntry[]>;
  readonly find: (id: string) => Promise<OutboxEntry | undefined>;
  /** @returns the key by which it goes now; undefined when there is nothing to retry. */
  readonly retry: (id: string) => Promise<string | undefined>;
  readonly retryAll: () => Promise<void>;
  /** @returns the new key; undefined when there is no such entry, or it is being sent. */
  readonly edit: (id: string, variables: unknown) => Promise<string | undefined>;
  /** @returns whether there was something to discard. `error` is what its submission ends in. */
  readonly discard: (id: string, error?: unknown) => Promise<boolean>;
}

export interface EntriesContext {
  readonly clock: Clock;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly codec: Codec;
  readonly pauses: Pick<PausedEntries, 'of'>;
  readonly storage: Pick<EntryStorage, 'ready' | 'engines' | 'write' | 'refuseBlind'>;
  readonly receipts: Pick<Receipts, 'rename'>;
  readonly memory: Pick<PageMemory, 'endWaiting'>;
  readonly forget: Pick<Forget, 'one'>;
  readonly others: Pick<OtherTabs, 'post'>;
  /** An entry is due now; `isUrged`: because a user wants it. */
  readonly onDue: (entry: Row, isUrged: boolean) => void;
  readonly onChange: () => void;
}

export function createEntries({
  clock,
  handlers,
  codec,
  pauses,
  storage,
  receipts,
  memory,
  forget,
  others,
  onDue,
  onChange,
}: EntriesContext): Entries {
  const show = async ({ store, ownership }: Engine, entry: Row): Promise<OutboxEntry> => {
    const pause = pauses.of(entry);
    const open = (sealed: unknown): Promise<unknown> => codec.decode(sealed).catch(() => undefined);
    const definition = handlers.get(entry.handler);
    const read = definition
      ? await readVariables(entry, definition, codec)
      : { variables: await open(entry.variables) };
    const { state, isInDoubt, deadReason } = entry;
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
      processed:
        state === 'done' || deadReason === 'answer-lost'
          ? 'yes'
          : isInDoubt || state === 'sending'
            ? 'unknown'
            : 'no',
      waitsFor: entry.waitsFor,
      reason: deadReason,
      pause,
      sentBy:
        state === 'sending'
          ? ownership.isHeld(entry.owner)
            ? 'this-tab'
            : 'another-tab'
          : undefined,
      data: state === 'done' ? await open(entry.result) : undefined,
      isDurable: store.isDurable,
    };
  };

  /** What the first of the engines that has something says. */
  const first = async <T>(
    ask: (engine: Engine) => Promise<T | undefined>,
  ): Promise<T | undefined> => {
    await storage.ready();
    for (const engine of storage.engines()) {
      const found = await ask(engine);
      if (found !== undefined) return found;
    }
    storage.refuseBlind();
    return undefined;
  };

  const change = (
    id: string,
    act: (engine: Engine, entry: Row) => Promise<Settled | undefined>,
  ): Promise<string | undefined> =>
    first(async (engine) => {
      const entry = await engine.store.find(id);
      const { row: after, next } = (entry && (await act(engine, entry))) ?? {};
      if (!after) return undefined;
      if (after.id !== id) {
        memory.endWaiting(id, 'cancelled');
        receipts.rename(id, after.id, after);
        others.post({ kind: 'renamed', id, next: after.id });
      }
      onDue(after, true);
      if (next) onDue(next, false);
      onChange();
      return after.id;
    });

  const revive = (
    engine: Engine,
    id: string,
    as: (entry: Row) => Row,
  ): Promise<Settled | undefined> => storage.write(engine, () => engine.revive(id, as));
  const send = (id: string, as: (known: Row) => Row): Promise<string | undefined> =>
    change(id, async (engine, entry) =>
      entry.state === 'sending' ? { row: entry, next: undefined } : revive(engine, id, as),
    );

  return {
    async list({ state, handler, scope, limit = pageSize } = {}) {
      await storage.ready();
      const listOf = async (engine: Engine): Promise<readonly OutboxEntry[]> => {
        const found: Row[] = [];
        const pages = pagesOf((after, count) =>
          engine.store.list(state === 'paused' ? 'sending' : state, after, count),
        );
        for await (const entry of pages) {
          if (found.length >= limit) break;
          const shown = pauses.of(entry) ? 'paused' : entry.state;
          const isAsked =
            (state ?? shown) === shown &&
            (handler ?? entry.handler) === entry.handler &&
            (scope ?? entry.scope) === entry.scope;
          if (isAsked) found.push(entry);
        }
        return Promise.all(found.map((entry) => show(engine, entry)));
      };
      return (await Promise.all(storage.engines().map(listOf))).flat().slice(0, limit);
    },
    find: (id) =>
      first(async (engine) => {
        const entry = await engine.store.find(id);
        return entry && show(engine, entry);
      }),
    retry: (id) => send(id, (known) => redrive(known, clock)),
    async retryAll() {
      await storage.ready();
      for (const { store } of storage.engines()) {
        const dead = pagesOf((after, count) => store.list('dead', after, count));
        for await (const { id } of dead) await send(id, (known) => redriveSafely(known, clock));
      }
    },
    async edit(id, variables) {
      const sealed = await codec.encode('outbox.edit', variables);
      return change(id, (engine, { handler }) => {
        const definition = handlers.get(handler);
        const ofHandler = definition && {
          version: definition.version,
          scope: scopeOf('outbox.edit', definition, variables),
        };
        return revive(engine, id, (known) => ({
          ...renew(known, clock),
          variables: sealed,
          ...ofHandler,
        }));
      });
    },
    async discard(id, error) {
      const found = await first((engine) =>
        storage.write(engine, () => engine.store.discard(id, clock.now())),
      );
      if (!found) return false;
      const { row: entry } = found;
      const isInDoubt = entry.isInDoubt || entry.state === 'sending' || entry.state === 'done';
      forget.one(id, { ...entry, isInDoubt }, error);
      others.post({ kind: 'discarded', id, isInDoubt });
      if (found.next) onDue(found.next, false);
      onChange();
      return true;
    },
  };
}

/** A user has decided that this dead letter is sent again: where its key tells nothing, under a new one. */
function redrive(entry: Row, clock: Clock): Row {
  const isNew = entry.state === 'dead' && needsNewKey(entry.deadReason);
  return isNew ? renew(entry, clock) : redriveSafely(entry, clock);
}

/** The same of many at once: what may have been done keeps its key. */
function redriveSafely(entry: Row, clock: Clock): Row {
  if (entry.state !== 'dead') return entry;
  const { deadReason, isInDoubt, redrives } = entry;
  // Where nothing was done, the key may stand for the refusal.
  if (deadReason === 'refused' && !isInDoubt) return renew(entry, clock);
  const again = { isUnkeyed: false, isRestored: false, isRedriven: true };
  return { ...entry, ...again, redrives: redrives + (isInDoubt ? 1 : 0) };
}

/** The same, as something new: nothing has been tried under its key. */
function renew(entry: Row, clock: Clock): Row {
  const fresh = { id: createIdempotencyKey(), createdAt: clock.now(), aheadMs: undefined };
  return { ...entry, ...untried, ...fresh };
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
   * Another version of the app has submitted it, a newer one or since this page is open, and this one
   * cannot deliver it: a tab of that version does, or the next page. Undefined for all others.
   */
  readonly waitsFor: 'other-version' | undefined;
  /** Why it needs a user; undefined unless it is dead. */
  readonly reason: DeadReason | undefined;
  /** What its attempt waits for before it is sent, in whatever tab; undefined unless it is `paused`. */
  readonly pause:
    | { readonly reason: PauseReason; readonly retryAt: number | undefined }
    | undefined;
  /**
   * Which tab has its attempt; undefined unless it is `sending` or `paused`. One of a tab that gives no more
   * sign of life is taken over within two minutes.
   */
  readonly sentBy: 'this-tab' | 'another-tab' | undefined;
  /** The result, once it is `done`. */
  readonly data: TData | undefined;
  /** Whether it is on the disk. Where it is not, it is gone with this page. */
  readonly isDurable: boolean;
}
