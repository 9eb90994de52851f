import { askBeforeLeaving } from '../intent/ask-before-leaving.ts';
import type { Network } from '../origin/network.ts';
import { createStore as createState, type Readable } from '../origin/store.ts';
import { reject } from '../policy/check-option.ts';
import { createIdempotencyKey } from '../policy/idempotency-key.ts';
import type { HandlerDefinition, RowEnd } from './attempt-row.ts';
import type { Backend } from './backend.ts';
import { createEngine, type Engine } from './engine.ts';
import { type OutboxEntry, toDeadLetter, toEntry } from './entry.ts';
import { discarded, gone } from './errors.ts';
import { createMemoryBackend } from './memory-backend.ts';
import { type Message, read, write } from './messages.ts';
import { type NotDurableReason, reasonOf } from './open-database.ts';
import { createRefresh } from './refresh.ts';
import { type DeadReason, type NewRow, type Row, rowSchema, type RowState } from './row.ts';
import { createSeal, type OutboxCipher } from './seal.ts';
import type { SenderContext } from './send-row.ts';
import { type Counts, createStore, type Settled } from './store.ts';
import type { TabPorts } from './tab-ports.ts';
import { createWaiters } from './waiters.ts';

/** What the outbox holds, and where. */
export interface OutboxState extends Counts {
  /** `durable`, or why new entries are only in this page at the moment. */
  readonly storage: 'opening' | 'durable' | NotDurableReason;
}

/** Which entries are asked for. */
export interface OutboxFilter {
  readonly state?: RowState | undefined;
  readonly handler?: string | undefined;
  readonly scope?: string | undefined;
  /** @default 100 */
  readonly limit?: number | undefined;
}

/** What is known of an intent that somebody else keeps: a form. */
export interface GivenIntent {
  readonly key: string;
  readonly createdAt: number;
  readonly wasSent?: boolean | undefined;
  readonly primary?: string | undefined;
}

/** A submission of this tab. */
export interface Submission {
  readonly idempotencyKey: string;
  /** Resolves once it is kept; `isDurable` says whether on the disk. */
  readonly saved: Promise<{ readonly isDurable: boolean }>;
  /** Resolves with its result, whichever tab has delivered it. */
  readonly delivered: Promise<unknown>;
}

/** An entry was delivered, by this tab or another. */
export interface Delivered {
  readonly idempotencyKey: string;
  readonly handler: string;
  readonly variables: unknown;
  readonly data: unknown;
}

export interface OutboxCore extends Readable<OutboxState> {
  readonly submit: (handler: string, variables: unknown, intent?: GivenIntent) => Submission;
  readonly list: (filter?: OutboxFilter) => Promise<readonly OutboxEntry[]>;
  readonly find: (id: string) => Promise<OutboxEntry | undefined>;
  /** @returns the key by which it goes now; undefined when there is nothing to retry. */
  readonly retry: (id: string) => Promise<string | undefined>;
  readonly retryAll: () => Promise<void>;
  readonly edit: (id: string, variables: unknown) => Promise<string | undefined>;
  /** @returns whether there was something to discard. */
  readonly discard: (id: string) => Promise<boolean>;
  readonly clear: () => Promise<void>;
  /** Nothing more is sent from here; what is kept stays. */
  readonly dispose: () => void;
}

export interface OutboxCoreContext {
  readonly sender: SenderContext;
  readonly network: Network;
  readonly ports: TabPorts;
  readonly name: string;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly cipher: OutboxCipher | undefined;
  readonly parallel: number;
  readonly open: (onLost: (reason: NotDurableReason) => void) => Promise<Backend>;
  readonly onDelivered: (delivered: Delivered) => void;
}

/** A result waits so long for the tab that submitted. */
const keepResultMs = 600_000;
/** A database that was lost is opened anew after so long. */
const reopenMs = 1000;
const pageSize = 100;
/** What another version of the app may be able to deliver. */
const curable: readonly DeadReason[] = [
  'handler-missing',
  'schema-too-new',
  'not-migrated',
  'unreadable',
];

export function createOutboxCore(context: OutboxCoreContext): OutboxCore {
  const { sender, ports, handlers, cipher, open: openBackend, onDelivered } = context;
  const { clock } = sender;
  const seal = createSeal(cipher);
  const waiters = createWaiters();
  const state = createState<OutboxState>({
    storage: 'opening',
    due: 0,
    waiting: 0,
    sending: 0,
    dead: 0,
    oldestAt: undefined,
  });
  let durable: Engine | undefined;
  let memory: Engine | undefined;
  let isOver = false;
  let isAway = false;
  let reopenTimer: unknown;
  let sweepTimer: unknown;
  /** Rows of this page that are not, or not yet, on the disk. */
  const unsaved = new Set<string>();
  let stay: (() => void) | undefined;
  /** Rows that this page has submitted, until they have ended: should the database be deleted. */
  const submitted = new Map<string, Unplaced>();
  let turn: Promise<unknown> = Promise.resolve();

  const engines = (): Engine[] => [durable, memory].filter((engine) => engine !== undefined);

  const guard = (): void => {
    if (unsaved.size > 0) stay ??= askBeforeLeaving();
    else {
      stay?.();
      stay = undefined;
    }
  };

  // What is shown.
  const refresh = createRefresh(clock, async () => {
    const nowMs = clock.now();
    const counts = await Promise.all(
      engines().map(({ store }) => store.count(nowMs).catch(() => undefined)),
    );
    if (!isOver) state.set(sum(state.getState().storage, counts));
  });
  const show = (storage: OutboxState['storage']): void => {
    if (state.getState().storage !== storage) state.set({ ...state.getState(), storage });
  };
  const noteTrouble = (error: unknown): void => {
    const reason = reasonOf(error);
    if (reason === 'lost') lose(reason);
    else if (reason) show(reason);
  };

  // The other tabs.
  const channel = ports.open(`steadfetch outbox ${context.name}`, (posted) => {
    const message = read(posted);
    if (message && !isOver) hear(message);
  });
  const post = (message: Message): void => {
    try {
      channel.post(write(message));
    } catch {
      // Its variables or its data cannot be posted: then without.
      if (message.kind === 'done') post({ kind: 'done', id: message.id, handler: message.handler });
    }
  };
  const changed = (): void => {
    refresh.ask();
    post({ kind: 'changed' });
  };
  const tellDue = (row: Row | undefined, isUrged = false): void => {
    if (!row?.liveOwner) return;
    for (const { delivery } of engines()) delivery.add(row, isUrged);
    post({ kind: 'due', owner: row.liveOwner, seq: row.seq, isUrged });
  };

  const hear = (message: Message): void => {
    refresh.ask();
    switch (message.kind) {
      case 'owner':
        durable?.ownership.look().catch(noteTrouble);
        break;
      case 'due': {
        const { owner, seq, isUrged } = message;
        durable?.delivery.add({ seq, liveOwner: owner, nextRetryAt: 0 }, isUrged);
        break;
      }
      case 'done':
        onDelivered({
          variables: undefined,
          data: undefined,
          ...message,
          idempotencyKey: message.id,
        });
        if (waiters.has(message.id)) void settleFromStore(message.id);
        break;
      case 'dead':
        if (waiters.has(message.id)) void settleFromStore(message.id);
        break;
      case 'discarded':
        forget(message.id);
        break;
      case 'cleared':
        for (const id of waiters.ids()) forget(id);
        break;
      case 'changed':
    }
  };

  /** Another tab may have ended what this one waits for. */
  const settleFromStore = async (id: string): Promise<void> => {
    const row = await durable?.store.find(id).catch(() => undefined);
    if (row?.state === 'done') {
      waiters.resolve(id, await seal.open(row.result).catch(() => undefined));
      end(id);
      await durable?.store.acknowledge(id).catch(noteTrouble);
    } else if (row?.state === 'dead') waiters.reject(id, toDeadLetter(row));
    else if (!row && !unsaved.has(id) && durable) {
      const known = submitted.get(id);
      if (known) waiters.reject(id, gone(known));
      end(id);
    }
  };

  /** Nothing of it is left to be done here. */
  const end = (id: string): void => {
    submitted.delete(id);
    unsaved.delete(id);
    guard();
  };
  /** A person has discarded it. */
  const forget = (id: string, row?: Row): void => {
    for (const { delivery } of engines()) delivery.running(id)?.controller.abort();
    const known = row ?? submitted.get(id);
    if (known) waiters.reject(id, discarded(known));
    end(id);
  };

  const onEnd = (row: Row, ended: RowEnd, settled: Settled | undefined): void => {
    const { id, handler } = row;
    if (ended.kind === 'done') {
      const { data, variables } = ended;
      waiters.resolve(id, data);
      end(id);
      onDelivered({ idempotencyKey: id, handler, variables, data });
      post({ kind: 'done', id, handler, variables, data });
      if (settled?.row) planSweep();
    } else if (ended.kind === 'dead' && settled?.row) {
      waiters.reject(id, toDeadLetter(settled.row, ended.error));
      end(id);
      post({ kind: 'dead', id });
    }
    if (settled?.next) tellDue(settled.next);
    changed();
  };

  const startEngine = (backend: Backend): Engine =>
    createEngine({
      ...context,
      store: createStore(backend),
      lock: backend.isDurable ? ports.lock : undefined,
      seal,
      isAwaited: ({ id }) => waiters.has(id),
      onEnd,
      onStart: changed,
      onOwn: () => post({ kind: 'owner' }),
      onError: noteTrouble,
    });

  // The database.
  const open = async (): Promise<void> => {
    try {
      const backend = await openBackend(lose);
      if (isOver) return backend.close();
      const engine = startEngine(backend);
      durable = engine;
      show('durable');
      await resume(engine);
      await cure(engine);
      await engine.store.sweep(clock.now() - keepResultMs);
    } catch (error) {
      show(reasonOf(error) ?? 'unavailable');
    }
    refresh.ask();
  };
  const resume = async (engine: Engine): Promise<void> => {
    // What this page has submitted, and is not there: somebody has deleted the database.
    for (const [id, row] of submitted)
      if (!unsaved.has(id) && waiters.has(id) && !(await engine.store.find(id)))
        await engine.add({ ...row, isInDoubt: true });
    await engine.ownership.look();
    engine.delivery.look();
  };
  function lose(reason: NotDurableReason): void {
    if (isOver || !durable) return;
    durable.dispose();
    durable = undefined;
    show(reason);
    if (reason === 'lost') reopenTimer = clock.setTimeout(() => (opening = open()), reopenMs);
  }
  let opening = open();

  /** What could not be delivered may be now, with the handlers that there are. */
  const cure = async ({ store, ownership }: Engine): Promise<void> => {
    for (const reason of curable) {
      for (const id of await store.dead(reason)) {
        const row = await store.find(id);
        if (row && isDeliverable(row)) {
          const { ownership: own } = { ownership };
          tellDue(await own.use((fence) => store.revive(id, fence, clock.now())));
        }
      }
    }
  };
  const isDeliverable = ({ handler, schema, version }: Row): boolean => {
    const known = handlers.get(handler);
    if (!known || schema > rowSchema || version > known.version) return false;
    return version === known.version || !!known.handler.migrate;
  };

  const planSweep = (): void => {
    if (sweepTimer !== undefined || isOver) return;
    sweepTimer = clock.setTimeout(() => {
      sweepTimer = undefined;
      durable?.store.sweep(clock.now() - keepResultMs).catch(noteTrouble);
    }, keepResultMs + 1000);
    clock.unref?.(sweepTimer);
  };

  // Submissions, in the order in which they were made.
  const add = async (
    row: Unplaced,
  ): Promise<{ readonly row: Row; readonly isDurable: boolean }> => {
    await opening;
    if (durable) {
      try {
        const added = await durable.add(row);
        show('durable');
        return { row: added, isDurable: true };
      } catch (error) {
        noteTrouble(error);
        if (!reasonOf(error)) throw error;
      }
    }
    memory ??= startEngine(createMemoryBackend());
    return { row: await memory.add(row), isDurable: false };
  };

  const submit: OutboxCore['submit'] = (name, variables, intent) => {
    const definition =
      handlers.get(name) ??
      reject('outbox', 'handler', name, `one of ${[...handlers.keys()].join(', ')}`);
    const nowMs = clock.now();
    const { scope: given } = definition.handler;
    const scope = typeof given === 'function' ? given(variables) : given;
    const closing = seal.close(`outbox '${name}'`, variables);
    const { key: id = createIdempotencyKey(), createdAt = nowMs, wasSent, primary } = intent ?? {};
    const delivered = waiters.wait(id);
    const row = {
      id,
      schema: rowSchema,
      handler: name,
      version: definition.version,
      createdAt,
      submitter: tab,
      state: 'pending',
      nextRetryAt: nowMs,
      attempts: 0,
      isInDoubt: wasSent ?? false,
      ...(scope !== undefined && { scope, blocks: scope }),
      ...(primary !== undefined && { primary }),
    } as const;
    unsaved.add(id);
    guard();
    const keep = async (): Promise<{ readonly isDurable: boolean }> => {
      try {
        const sealed: Unplaced = { ...row, variables: await closing };
        submitted.set(id, sealed);
        const { row: added, isDurable } = await add(sealed);
        if (isDurable) unsaved.delete(id);
        guard();
        if (added.state === 'done') await settleFromStore(id);
        else if (added.attempts > 0 || added.state === 'dead') await retry(id);
        changed();
        return { isDurable };
      } catch (error) {
        waiters.reject(id, error);
        end(id);
        throw error;
      }
    };
    const saved = turn.then(keep);
    turn = saved.catch(() => {});
    return { idempotencyKey: id, saved, delivered };
  };

  // What a person does.
  const change = async (
    id: string,
    act: (engine: Engine, row: Row) => Promise<Row | undefined>,
  ): Promise<string | undefined> => {
    await opening;
    for (const engine of engines()) {
      const row = await engine.store.find(id);
      const after = row && (await act(engine, row));
      if (!after) continue;
      tellDue(after, true);
      changed();
      return after.id;
    }
    return undefined;
  };
  const revive = ({ store, ownership }: Engine, id: string, edit?: (row: Row) => Row) =>
    ownership.use(async (fence) => store.revive(id, fence, clock.now(), edit));
  const renew = (row: Row): Row => {
    const { primary: _, lastError: __, lastAttemptAt: ___, ...rest } = row;
    const createdAt = clock.now();
    return { ...rest, id: createIdempotencyKey(), createdAt, attempts: 0, isInDoubt: false };
  };
  const retry: OutboxCore['retry'] = (id) =>
    change(id, async (engine, row) => {
      if (row.state === 'sending') {
        for (const { go } of engine.delivery.running(id)?.live?.holds ?? []) go();
        return row;
      }
      // Where nothing was done, the key may stand for the refusal.
      const isNew = row.state === 'dead' && !row.isInDoubt && row.deadReason === 'refused';
      return revive(engine, id, isNew ? renew : undefined);
    });

  const edit: OutboxCore['edit'] = async (id, variables) => {
    const sealed = await seal.close('outbox.edit', variables);
    const next = await change(id, (engine, row) =>
      row.state === 'sending'
        ? Promise.resolve(undefined)
        : revive(engine, id, (known) => {
            const { version = known.version } = handlers.get(known.handler) ?? {};
            return { ...renew(known), variables: sealed, version };
          }),
    );
    if (next !== undefined) waiters.rename(id, next);
    return next;
  };

  const discard: OutboxCore['discard'] = async (id) => {
    await opening;
    for (const { store } of engines()) {
      const found = await store.discard(id, clock.now());
      if (!found) continue;
      forget(id, found.row);
      post({ kind: 'discarded', id });
      tellDue(found.next);
      changed();
      return true;
    }
    return false;
  };

  const unwatch = ports.watch((now) => {
    const wasAway = isAway;
    isAway = now === 'away';
    if (!durable || isOver) return;
    if (isAway) {
      for (const { owner } of durable.ownership.held()) durable.delivery.drop(owner);
      durable.ownership.leave();
      return;
    }
    durable.ownership.look().catch(noteTrouble);
    for (const { delivery } of engines()) delivery.look();
    if (wasAway) for (const id of waiters.ids()) void settleFromStore(id);
    refresh.ask();
  });

  const entriesOf = async (engine: Engine, filter: OutboxFilter): Promise<OutboxEntry[]> => {
    const { store, delivery } = engine;
    const { state: wanted, handler, scope, limit = pageSize } = filter;
    const found: Row[] = [];
    for (let after = 0; found.length < limit;) {
      const page = await store.list(wanted, after, pageSize);
      for (const row of page)
        if ((handler ?? row.handler) === row.handler && (scope ?? row.scope) === row.scope)
          found.push(row);
      if (page.length < pageSize) break;
      after = page.at(-1)?.seq ?? 0;
    }
    return Promise.all(
      found
        .slice(0, limit)
        .map((row) => toEntry(row, store.isDurable, seal, delivery.running(row.id))),
    );
  };

  return {
    getState: state.getState,
    subscribe: state.subscribe,
    submit,
    async list(filter = {}) {
      await opening;
      const lists = await Promise.all(engines().map((engine) => entriesOf(engine, filter)));
      return lists.flat().slice(0, filter.limit ?? pageSize);
    },
    async find(id) {
      await opening;
      for (const { store, delivery } of engines()) {
        const row = await store.find(id);
        if (row) return toEntry(row, store.isDurable, seal, delivery.running(id));
      }
      return undefined;
    },
    retry,
    async retryAll() {
      await opening;
      for (const { store } of engines()) for (const id of await store.dead()) await retry(id);
    },
    edit,
    discard,
    async clear() {
      await opening;
      for (const { store } of engines()) await store.clear();
      for (const id of waiters.ids()) forget(id);
      post({ kind: 'cleared' });
      changed();
    },
    dispose() {
      isOver = true;
      unwatch();
      refresh.dispose();
      clock.clearTimeout(reopenTimer);
      clock.clearTimeout(sweepTimer);
      for (const engine of engines()) {
        engine.dispose();
        engine.store.close();
      }
      channel.close();
      unsaved.clear();
      guard();
    },
  };
}

type Unplaced = Omit<NewRow, 'owner' | 'liveOwner'>;

/** This page, among all that have the outbox open. */
const tab = createIdempotencyKey();

function sum(
  storage: OutboxState['storage'],
  counts: readonly (Counts | undefined)[],
): OutboxState {
  const all = counts.filter((count) => count !== undefined);
  const total = (name: 'due' | 'waiting' | 'sending' | 'dead'): number =>
    all.reduce((result, count) => result + count[name], 0);
  const times = all.map(({ oldestAt = Infinity }) => oldestAt);
  const oldestAt = Math.min(Infinity, ...times);
  return {
    storage,
    due: total('due'),
    waiting: total('waiting'),
    sending: total('sending'),
    dead: total('dead'),
    oldestAt: oldestAt === Infinity ? undefined : oldestAt,
  };
}
