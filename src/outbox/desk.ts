import type { Clock } from '../lib/clock.ts';
import { createIdempotencyKey } from '../idempotency/key.ts';
import type { HandlerDefinition } from './define-handlers.ts';
import type { Engine } from './engine.ts';
import { type EntryState, type OutboxEntry, toEntry } from './entry.ts';
import type { PausedRows } from './pauses.ts';
import { pagesOf } from './pages.ts';
import type { Row } from './store/schema.ts';
import type { Seal } from './seal.ts';
import type { Storage } from './storage.ts';
import { pageSize } from './store/row-store.ts';

/** Which entries are asked for. */
export interface OutboxFilter<THandler extends string = string> {
  readonly state?: EntryState | undefined;
  readonly handler?: THandler | undefined;
  readonly scope?: string | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
}

/** What a user sees of the entries, and does with them. */
export interface Desk {
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

export interface DeskContext {
  readonly clock: Clock;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly seal: Seal;
  readonly pauses: Pick<PausedRows, 'of'>;
  readonly storage: Pick<Storage, 'ready' | 'engines'>;
  /** A row is due now; `isUrged`: because a user wants it. */
  readonly onDue: (row: Row, isUrged: boolean) => void;
  /** A row has another id from now on. */
  readonly onRename: (id: string, row: Row) => void;
  readonly onDiscard: (row: Row, error: unknown) => void;
  readonly onChange: () => void;
}

export function createDesk({
  clock,
  handlers,
  seal,
  pauses,
  storage,
  onDue,
  onRename,
  onDiscard,
  onChange,
}: DeskContext): Desk {
  const show = ({ store }: Engine, row: Row): Promise<OutboxEntry> =>
    toEntry(row, store.isDurable, handlers.get(row.handler), seal, pauses.of(row));

  /** What the first of the engines that has something says. */
  const first = async <T>(
    ask: (engine: Engine) => Promise<T | undefined>,
  ): Promise<T | undefined> => {
    await storage.ready();
    for (const engine of storage.engines()) {
      const found = await ask(engine);
      if (found !== undefined) return found;
    }
    return undefined;
  };

  const change = (
    id: string,
    act: (engine: Engine, row: Row) => Promise<Row | undefined>,
  ): Promise<string | undefined> =>
    first(async (engine) => {
      const row = await engine.store.find(id);
      const after = row && (await act(engine, row));
      if (!after) return undefined;
      if (after.id !== id) onRename(id, after);
      onDue(after, true);
      onChange();
      return after.id;
    });

  const retry: Desk['retry'] = (id) =>
    change(id, async (engine, row) =>
      row.state === 'sending' ? row : engine.revive(id, (known) => redrive(known, clock)),
    );

  return {
    async list({ state, handler, scope, limit = pageSize } = {}) {
      await storage.ready();
      const listOf = async (engine: Engine): Promise<readonly OutboxEntry[]> => {
        const found: Row[] = [];
        const pages = pagesOf((after, count) =>
          engine.store.list(state === 'paused' ? 'sending' : state, after, count),
        );
        for await (const row of pages) {
          if (found.length >= limit) break;
          const shown = pauses.of(row) ? 'paused' : row.state;
          const isAsked =
            (state ?? shown) === shown &&
            (handler ?? row.handler) === row.handler &&
            (scope ?? row.scope) === row.scope;
          if (isAsked) found.push(row);
        }
        return Promise.all(found.map((row) => show(engine, row)));
      };
      return (await Promise.all(storage.engines().map(listOf))).flat().slice(0, limit);
    },
    find: (id) =>
      first(async (engine) => {
        const row = await engine.store.find(id);
        return row && show(engine, row);
      }),
    retry,
    async retryAll() {
      await storage.ready();
      for (const { store } of storage.engines()) {
        const dead = pagesOf((after, count) => store.list('dead', after, count));
        for await (const { id } of dead) await retry(id);
      }
    },
    async edit(id, variables) {
      const sealed = await seal.close('outbox.edit', variables);
      return change(id, (engine) =>
        engine.revive(id, (known) => {
          const { version = known.version } = handlers.get(known.handler) ?? {};
          return { ...renew(known, clock), variables: sealed, version };
        }),
      );
    },
    async discard(id, error) {
      const found = await first(({ store }) => store.discard(id, clock.now()));
      if (!found) return false;
      onDiscard(found.row, error);
      if (found.next) onDue(found.next, false);
      onChange();
      return true;
    },
  };
}

/** A user has decided that a dead letter is sent again. */
function redrive(row: Row, clock: Clock): Row {
  if (row.state !== 'dead') return row;
  // Where nothing was done, the key may stand for the refusal.
  if (row.deadReason === 'refused' && !row.isInDoubt) return renew(row, clock);
  const { isUnkeyed: _, isRestored: __, ...rest } = row;
  return { ...rest, isRedriven: true };
}

/** The same, as something new: nothing has been tried under its key. */
function renew(row: Row, clock: Clock): Row {
  const {
    steps: _,
    lastError: __,
    lastAttemptAt: ___,
    isUnkeyed: ____,
    isRestored: _____,
    isGone: ______,
    ...rest
  } = row;
  const createdAt = clock.now();
  return { ...rest, id: createIdempotencyKey(), createdAt, attempts: 0, isInDoubt: false };
}
