import type { Clock } from '../policy/clock.ts';
import { createIdempotencyKey } from '../policy/idempotency-key.ts';
import type { HandlerDefinition } from './attempt-row.ts';
import type { Engine } from './engine.ts';
import { type OutboxEntry, toEntry } from './entry.ts';
import { type DeadReason, type Row, rowSchema, type RowState } from './row.ts';
import type { Seal } from './seal.ts';
import { pageSize } from './store.ts';

/** Which entries are asked for. */
export interface OutboxFilter {
  readonly state?: RowState | undefined;
  readonly handler?: string | undefined;
  readonly scope?: string | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
}

/** What a person sees of the entries, and does with them. */
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
  /** What could not be delivered may be now, with the handlers that there are. */
  readonly cure: (engine: Engine) => Promise<void>;
  /** The same for one. @returns whether it is cured. */
  readonly cureOne: (engine: Engine, id: string) => Promise<boolean>;
}

export interface DeskContext {
  readonly clock: Clock;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly seal: Seal;
  readonly ready: () => Promise<unknown>;
  readonly engines: () => readonly Engine[];
  /** A row is due now; `isUrged`: because a person wants it. */
  readonly onDue: (row: Row, isUrged: boolean) => void;
  /** A row has another id from now on. */
  readonly onRename: (id: string, row: Row) => void;
  readonly onDiscard: (row: Row, error: unknown) => void;
  readonly onChange: () => void;
}

/** What another version of the app may be able to deliver. */
const curable: readonly DeadReason[] = [
  'handler-missing',
  'schema-too-new',
  'not-migrated',
  'unreadable',
];

export function createDesk({
  clock,
  handlers,
  seal,
  ready,
  engines,
  onDue,
  onRename,
  onDiscard,
  onChange,
}: DeskContext): Desk {
  const show = ({ store, delivery }: Engine, row: Row): Promise<OutboxEntry> =>
    toEntry(row, store.isDurable, seal, delivery.running(row.id));

  const listOf = async (engine: Engine, filter: OutboxFilter): Promise<readonly OutboxEntry[]> => {
    const { state, handler, scope, limit = pageSize } = filter;
    const found: Row[] = [];
    const pages = pagesOf((after) => engine.store.list(state, after, pageSize));
    for await (const row of pages) {
      if (found.length >= limit) break;
      const isAsked =
        (handler ?? row.handler) === row.handler && (scope ?? row.scope) === row.scope;
      if (isAsked) found.push(row);
    }
    return Promise.all(found.map((row) => show(engine, row)));
  };

  const change = async (
    id: string,
    act: (engine: Engine, row: Row) => Promise<Row | undefined>,
  ): Promise<string | undefined> => {
    await ready();
    for (const engine of engines()) {
      const row = await engine.store.find(id);
      const after = row && (await act(engine, row));
      if (!after) continue;
      if (after.id !== id) onRename(id, after);
      onDue(after, true);
      onChange();
      return after.id;
    }
    return undefined;
  };

  const retry: Desk['retry'] = (id) =>
    change(id, async (engine, row) =>
      row.state === 'sending'
        ? row
        : engine.revive(id, (known) => {
            // Where nothing was done, the key may stand for the refusal.
            const isRefused = known.deadReason === 'refused' && !known.isInDoubt;
            return isRefused ? renew(known, clock) : known;
          }),
    );

  const cureOne: Desk['cureOne'] = async (engine, id) => {
    const row = await engine.store.find(id);
    if (!row?.deadReason || !curable.includes(row.deadReason)) return false;
    if (!isDeliverable(row, handlers.get(row.handler))) return false;
    const cured = await engine.revive(id);
    if (cured) onDue(cured, false);
    return !!cured;
  };

  return {
    async list(filter = {}) {
      await ready();
      const lists = await Promise.all(engines().map((engine) => listOf(engine, filter)));
      return lists.flat().slice(0, filter.limit ?? pageSize);
    },
    async find(id) {
      await ready();
      for (const engine of engines()) {
        const row = await engine.store.find(id);
        if (row) return show(engine, row);
      }
      return undefined;
    },
    retry,
    async retryAll() {
      await ready();
      for (const { store } of engines()) {
        const dead = pagesOf((after) => store.list('dead', after, pageSize));
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
      await ready();
      for (const { store } of engines()) {
        const found = await store.discard(id, clock.now());
        if (!found) continue;
        onDiscard(found.row, error);
        if (found.next) onDue(found.next, false);
        onChange();
        return true;
      }
      return false;
    },
    async cure(engine) {
      for (const reason of curable) {
        const dead = pagesOf((after) => engine.store.dead(reason, after, pageSize));
        for await (const row of dead)
          if (isDeliverable(row, handlers.get(row.handler))) await cureOne(engine, row.id);
      }
    },
    cureOne,
  };
}

/** Rows, a page of them at a time. */
async function* pagesOf(load: (after: number) => Promise<readonly Row[]>): AsyncGenerator<Row> {
  for (let after = 0; ;) {
    const page = await load(after);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    after = last.seq;
  }
}

/** The same, as something new: nothing has been tried under its key. */
function renew(row: Row, clock: Clock): Row {
  const {
    primary: _,
    steps: __,
    lastError: ___,
    lastAttemptAt: ____,
    isUnkeyed: _____,
    ...rest
  } = row;
  const createdAt = clock.now();
  return { ...rest, id: createIdempotencyKey(), createdAt, attempts: 0, isInDoubt: false };
}

function isDeliverable(
  { schema, version }: Row,
  definition: HandlerDefinition | undefined,
): boolean {
  if (!definition || schema > rowSchema || version > definition.version) return false;
  return version === definition.version || !!definition.handler.migrate;
}
