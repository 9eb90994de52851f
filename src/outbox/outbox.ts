import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Network } from '../origin/network.ts';
import type { Readable } from '../origin/store.ts';
import { reject } from '../policy/check-option.ts';
import { createIdempotencyKey } from '../policy/idempotency-key.ts';
import type { HandlerDefinition, RowEnd } from './attempt-row.ts';
import { createStore } from './create-store.ts';
import { createDesk, type Desk } from './desk.ts';
import { drainEngine } from './drain-engine.ts';
import { createEngine, type Engine } from './engine.ts';
import { toDeadLetter } from './entry.ts';
import { discarded, disposedOf, type EntryFacts, gone, leftBehind } from './errors.ts';
import { createLine } from './line.ts';
import { createDisplay, type Display, type OutboxState } from './outbox-state.ts';
import { type Row, rowSchema, type Unplaced } from './row.ts';
import { createSeal, type OutboxCipher } from './seal.ts';
import type { SenderContext } from './send-row.ts';
import { createStorage, type StorageContext } from './storage.ts';
import type { Settled } from './store.ts';
import { createSubmissions, type Progress, type Submission } from './submissions.ts';
import { createSweeper } from './sweeper.ts';
import type { TabPorts } from './tab-ports.ts';

/** What is known of an intent that somebody else keeps: a form. */
interface GivenIntent {
  readonly key: string;
  readonly createdAt: number;
  readonly wasSent?: boolean | undefined;
  readonly primary?: string | undefined;
}

/** What `submit` returns. */
interface Submitted {
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

export interface OutboxCore
  extends Readable<OutboxState>, Pick<Display, 'onChange'>, Omit<Desk, 'cure' | 'cureOne'> {
  /** Forgets all entries, in all tabs. */
  readonly clear: () => Promise<void>;
  readonly submit: (
    handler: string,
    variables: unknown,
    intent?: GivenIntent,
    onProgress?: (progress: Progress) => void,
  ) => Submitted;
  /**
   * Sends what nobody else sends, as far as that can be done now. @returns whether something of it is
   * left for later.
   */
  readonly drain: () => Promise<boolean>;
  /** Nothing more is sent from here; what is kept stays. */
  readonly dispose: () => void;
}

export interface OutboxCoreContext extends Pick<StorageContext, 'open'> {
  readonly sender: SenderContext;
  readonly network: Network;
  readonly ports: TabPorts;
  readonly name: string;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly cipher: OutboxCipher | undefined;
  readonly parallel: number;
  /** Something is to be sent, and this page may not be there to do it. */
  readonly onLeft: () => void;
  readonly onDelivered: (delivered: Delivered) => void;
}

export function createOutboxCore(context: OutboxCoreContext): OutboxCore {
  const { sender, network, ports, handlers, onLeft, onDelivered } = context;
  const { clock } = sender;
  const tab = createIdempotencyKey();
  const seal = createSeal(context.cipher);
  const submissions = createSubmissions();
  /** What this tab could not deliver. */
  const buried = new Set<string>();
  let isAway = false;
  let isOver = false;
  let turn: Promise<unknown> = Promise.resolve();

  const tellDelivered = (delivered: Delivered): void => {
    try {
      onDelivered(delivered);
    } catch (error) {
      // Surfaces as an unhandled rejection: the app's mistake must not cost anybody their turn.
      void Promise.reject(error);
    }
  };

  const line = createLine(ports, context.name, {
    changed: () => display.refresh(),
    owner() {
      const engine = storage.durable();
      void engine?.ownership.look();
      engine?.delivery.look();
    },
    due({ owner, seq, isUrged }) {
      const due = { seq, liveOwner: owner, nextRetryAt: 0 };
      storage.durable()?.delivery.add(due, isUrged);
    },
    done({ id, handler, variables, data }) {
      tellDelivered({ idempotencyKey: id, handler, variables, data });
      void settleFromStore(id, { data });
      sweeper.plan();
    },
    dead: ({ id }) => void cureOrSettle(id),
    renamed: ({ id, next }) => submissions.rename(id, next),
    discarded({ id, isInDoubt }) {
      const known = submissions.get(id);
      forget(id, known && { ...known.facts, isInDoubt });
    },
    cleared: () => void hearCleared(),
  });
  const changed = (): void => {
    display.refresh();
    line.post({ kind: 'changed' });
  };
  const tellDue = (row: Row, isUrged = false): void => {
    const { liveOwner, seq } = row;
    for (const { delivery } of storage.engines()) delivery.add(row, isUrged);
    if (liveOwner !== undefined) line.post({ kind: 'due', owner: liveOwner, seq, isUrged });
  };

  /** Another tab may have ended what this one waits for; `delivered` is what it has said of it. */
  const settleFromStore = async (
    id: string,
    delivered?: { readonly data: unknown },
  ): Promise<void> => {
    const engine = storage.durable();
    const known = submissions.get(id);
    if (!engine || !known?.isSaved) return;
    try {
      const row = await engine.store.find(id);
      if (submissions.get(id) !== known) return;
      if (row?.state === 'done') {
        submissions.resolve(id, await seal.open(row.result).catch(() => undefined));
        await engine.store.acknowledge(id);
      } else if (row?.state === 'dead') submissions.reject(id, toDeadLetter(row));
      else if (!row && delivered) submissions.resolve(id, delivered.data);
      else if (!row) submissions.reject(id, gone(known.facts));
    } catch (error) {
      engine.onError(error);
    }
  };
  /** One after the other: there may be thousands. */
  const settleAll = async (): Promise<void> => {
    for (const [id] of submissions.all()) await settleFromStore(id);
  };
  /** What another tab cannot deliver, this one perhaps can: it is of another version of the app. */
  const cureOrSettle = async (id: string): Promise<void> => {
    const engine = storage.durable();
    // Two that cannot would give it to each other for ever.
    const isCured = engine && !buried.has(id) && (await cureOne(engine, id).catch(engine.onError));
    if (!isCured) await settleFromStore(id);
  };
  /** A person has discarded it. */
  const forget = (id: string, facts: EntryFacts | undefined, error?: unknown): void => {
    for (const { delivery } of storage.engines()) delivery.running(id)?.controller.abort();
    if (facts) submissions.reject(id, error ?? discarded(facts));
  };
  /** What of those that were all discarded is not on its way any more. */
  const forgetAll = (ids: readonly string[]): void => {
    for (const id of ids) {
      const known = submissions.get(id);
      forget(id, known && { ...known.facts, isInDoubt: known.isSaved || !!known.row });
    }
  };
  const unsaved = (): string[] =>
    submissions.all().flatMap(([id, { isSaved }]) => (isSaved ? [] : [id]));
  /** Another tab has discarded all rows: what it has not seen is of this page alone. */
  const hearCleared = async (): Promise<void> => {
    forgetAll(unsaved());
    for (const engine of storage.engines()) {
      if (!engine.store.isDurable) await engine.store.clear();
      engine.forget();
    }
    for (const [id, known] of submissions.all()) {
      const row = await storage
        .durable()
        ?.store.find(id)
        .catch(() => undefined);
      if (!row && known.isSaved) forgetAll([id]);
    }
    await storage.durable()?.ownership.look();
  };

  const tell = (row: Row, progress: Omit<Progress, 'attempt'>): void =>
    submissions.get(row.id)?.onProgress?.({ ...progress, attempt: row.attempts });
  const onLive = (row: Row, live: LiveOperation): void => {
    const error = undefined;
    live.onChange = () => {
      if (live.phase !== 'ended')
        tell(row, { live, retryAt: undefined, decision: undefined, error });
      display.refresh();
    };
    live.onChange();
  };
  const onEnd = (row: Row, ended: RowEnd, settled: Settled | undefined): void => {
    const { id, handler } = row;
    if (!settled) {
      // Another tab has it now, and says what becomes of it; or nobody has it any more.
      void settleFromStore(id, ended.kind === 'done' ? ended : undefined);
    } else if (ended.kind === 'done') {
      const { data, variables } = ended;
      submissions.resolve(id, data);
      tellDelivered({ idempotencyKey: id, handler, variables, data });
      line.post({ kind: 'done', id, handler, variables, data });
      if (settled.row) sweeper.plan();
    } else if (ended.kind === 'dead' && settled.row) {
      buried.add(id);
      submissions.reject(id, toDeadLetter(settled.row, ended.error));
      line.post({ kind: 'dead', id });
    } else if (ended.kind === 'again' && settled.row) {
      const { error, decision } = ended;
      tell(row, { live: undefined, retryAt: settled.row.nextRetryAt, decision, error });
    }
    if (settled?.next) tellDue(settled.next);
    changed();
  };

  const sweeper = createSweeper(clock, () => storage.durable());
  const display = createDisplay(clock, () => storage.engines().map(({ store }) => store));
  const storage = createStorage({
    clock,
    open: context.open,
    startEngine: (backend, onError) =>
      createEngine({
        ...context,
        store: createStore(backend),
        lock: backend.isDurable ? ports.lock : undefined,
        seal,
        isAwaited: ({ id }) => !!submissions.get(id),
        onLive,
        onEnd,
        onStart: changed,
        onTurn: tellDue,
        onOwn: () => line.post({ kind: 'owner' }),
        onError,
      }),
    onOpen: (engine) => resume(engine),
    show: (reason) => display.showStorage(reason),
  });
  const { cure, cureOne, ...desk } = createDesk({
    clock,
    handlers,
    seal,
    ready: storage.ready,
    engines: storage.engines,
    onDue: tellDue,
    onRename(id, row) {
      submissions.rename(id, row.id, row);
      line.post({ kind: 'renamed', id, next: row.id });
    },
    onDiscard(row, error) {
      const isInDoubt = row.isInDoubt || row.state === 'sending' || row.state === 'done';
      forget(row.id, { ...row, isInDoubt }, error);
      line.post({ kind: 'discarded', id: row.id, isInDoubt });
    },
    onChange: changed,
  });

  const resume = async (engine: Engine): Promise<void> => {
    const { store, ownership } = engine;
    // What this page has submitted, and is not there: somebody has deleted the database.
    for (const [id, known] of submissions.all()) {
      const { row, isSaved } = known;
      if (row && isSaved && !(await store.find(id)))
        await keep(known, { ...row, isInDoubt: true }).catch(() => {});
    }
    await ownership.look();
    await cure(engine);
    await sweeper.sweep(engine);
    // Whoever has delivered what is not old enough yet may be gone before it is.
    sweeper.plan();
    display.refresh();
  };
  const unwatch = ports.watch((now) => {
    const wasAway = isAway;
    isAway = now === 'away';
    const engine = storage.durable();
    const held = engine?.ownership.held() ?? [];
    if (now !== 'here' && held.length > 0) onLeft();
    if (isAway) {
      for (const { owner } of held) engine?.delivery.drop(owner);
      return engine?.ownership.leave();
    }
    void engine?.ownership.comeBack();
    for (const one of storage.engines()) one.delivery.look();
    if (wasAway) void settleAll();
    display.refresh();
  });

  /** @returns whether it is on the disk. */
  const keep = async (known: Submission, row: Unplaced): Promise<boolean> => {
    const { id } = row;
    if (isOver || submissions.get(id) !== known) throw discarded(row);
    known.row = row;
    const { row: added, isDurable } = await storage.add(row);
    if (submissions.get(id) !== known) {
      // A person has discarded it meanwhile.
      if (!isOver) await desk.discard(id);
      throw discarded(row);
    }
    submissions.save(id, isDurable);
    if (isDurable && network.isOffline()) onLeft();
    // It was there already: another press under the same key.
    if (added.state === 'done') await settleFromStore(id);
    else if (added.attempts > 0 || added.state === 'dead') await desk.retry(id);
    changed();
    return isDurable;
  };

  return {
    ...desk,
    async discard(id, error) {
      // It may be on its way to the disk.
      await turn;
      return desk.discard(id, error);
    },
    clear() {
      const ids = submissions.all().map(([id]) => id);
      forgetAll(unsaved());
      const clearing = (async () => {
        await storage.ready();
        for (const engine of storage.engines()) {
          await engine.store.clear();
          engine.forget();
        }
        forgetAll(ids);
        line.post({ kind: 'cleared' });
        changed();
      })();
      // What is submitted from here on is kept.
      turn = Promise.allSettled([turn, clearing]);
      return clearing;
    },
    getState: display.getState,
    subscribe: display.subscribe,
    onChange: display.onChange,
    submit(name, variables, intent, onProgress) {
      const operation = `outbox '${name}'`;
      if (isOver) throw disposedOf(operation);
      const definition =
        handlers.get(name) ??
        reject('outbox', 'handler', name, `one of ${[...handlers.keys()].join(', ')}`);
      const { handler, version } = definition;
      const nowMs = clock.now();
      const scope = typeof handler.scope === 'function' ? handler.scope(variables) : handler.scope;
      if (scope !== undefined && typeof scope !== 'string')
        reject(operation, 'scope', scope, 'a text, or undefined');
      const closing = seal.close(operation, variables);
      // It is looked at in its turn.
      closing.catch(() => {});
      const { key = createIdempotencyKey(), createdAt = nowMs, wasSent, primary } = intent ?? {};
      const row = {
        id: key,
        schema: rowSchema,
        handler: name,
        version,
        createdAt,
        submitter: tab,
        state: 'pending',
        nextRetryAt: nowMs,
        plannedAt: nowMs,
        attempts: 0,
        isInDoubt: wasSent ?? false,
        ...(scope !== undefined && { scope, blocks: scope }),
        ...(primary !== undefined && { primary }),
      } as const;
      const known = submissions.begin(row, onProgress);
      // In the order in which they were submitted.
      const saved = turn.then(async () => {
        try {
          return { isDurable: await keep(known, { ...row, variables: await closing }) };
        } catch (error) {
          if (submissions.get(key) === known) submissions.reject(key, error);
          throw error;
        }
      });
      turn = saved.catch(() => {});
      return { idempotencyKey: key, saved, delivered: known.promise };
    },
    async drain() {
      await storage.ready();
      const engine = storage.durable();
      if (!engine) return false;
      return drainEngine(engine, clock);
    },
    dispose() {
      if (isOver) return;
      isOver = true;
      unwatch();
      display.dispose();
      sweeper.dispose();
      for (const { delivery } of storage.engines()) delivery.stop();
      storage.dispose();
      line.close();
      for (const [id, { facts, isSaved }] of submissions.all())
        submissions.reject(id, leftBehind(facts, isSaved));
    },
  };
}
