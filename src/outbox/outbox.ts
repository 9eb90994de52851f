import type { LiveOperation } from '../fetch/live-operation.ts';
import { askBeforeLeaving } from '../intent/ask-before-leaving.ts';
import type { Network } from '../origin/network.ts';
import type { Readable } from '../origin/store.ts';
import { reject } from '../policy/check-option.ts';
import type { Decision } from '../policy/decision.ts';
import { createIdempotencyKey } from '../policy/idempotency-key.ts';
import type { HandlerDefinition, RowEnd } from './attempt-row.ts';
import { createDesk, type Desk } from './desk.ts';
import { createEngine, type Engine } from './engine.ts';
import { toDeadLetter } from './entry.ts';
import { discarded, gone } from './errors.ts';
import { createLine } from './line.ts';
import { createDisplay, type Display, type OutboxState } from './outbox-state.ts';
import { type Row, rowSchema, type Unplaced } from './row.ts';
import { createSeal, type OutboxCipher } from './seal.ts';
import type { SenderContext } from './send-row.ts';
import { createStorage, type StorageContext } from './storage.ts';
import { createStore, type Settled } from './store.ts';
import type { TabPorts } from './tab-ports.ts';
import { createWaiters } from './waiters.ts';

/** What is known of an intent that somebody else keeps: a form. */
export interface GivenIntent {
  readonly key: string;
  readonly createdAt: number;
  readonly wasSent?: boolean | undefined;
  readonly primary?: string | undefined;
}

/** What this tab does with a submission of its own. */
export interface Progress {
  readonly attempt: number;
  /** The attempt that is under way, or was last. */
  readonly live: LiveOperation | undefined;
  /** When it is sent next; undefined while it is being sent. */
  readonly retryAt: number | undefined;
  readonly decision: Decision | undefined;
  readonly error: unknown;
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

export interface OutboxCore
  extends Readable<OutboxState>, Pick<Display, 'onChange'>, Omit<Desk, 'cure'> {
  readonly submit: (
    handler: string,
    variables: unknown,
    intent?: GivenIntent,
    onProgress?: (progress: Progress) => void,
  ) => Submission;
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
  readonly onDelivered: (delivered: Delivered) => void;
}

/** A result waits so long for the tab that submitted. */
const keepResultMs = 600_000;

/** A submission of this page that has not ended. */
interface Own {
  readonly row: Unplaced;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

export function createOutboxCore(context: OutboxCoreContext): OutboxCore {
  const { sender, ports, handlers, onDelivered } = context;
  const { clock } = sender;
  const tab = createIdempotencyKey();
  const seal = createSeal(context.cipher);
  const waiters = createWaiters();
  const own = new Map<string, Own>();
  /** Those that are not, or not yet, on the disk. */
  const unsaved = new Set<string>();
  let stay: (() => void) | undefined;
  let isAway = false;
  let isOver = false;
  let sweepTimer: unknown;
  let turn: Promise<unknown> = Promise.resolve();

  const guard = (): void => {
    if (unsaved.size > 0) stay ??= askBeforeLeaving();
    else {
      stay?.();
      stay = undefined;
    }
  };
  /** Nothing of it is left to be done here. */
  const end = (id: string): void => {
    own.delete(id);
    unsaved.delete(id);
    guard();
  };

  const line = createLine(ports, context.name, {
    changed: () => display.refresh(),
    owner() {
      const engine = storage.durable();
      engine?.ownership.look().catch(storage.noteTrouble);
      engine?.delivery.look();
    },
    due({ owner, seq, isUrged }) {
      const due = { seq, liveOwner: owner, nextRetryAt: 0 };
      storage.durable()?.delivery.add(due, isUrged);
    },
    done({ id, handler, variables, data }) {
      onDelivered({ idempotencyKey: id, handler, variables, data });
      settleFromStore(id).catch(storage.noteTrouble);
    },
    dead: ({ id }) => void settleFromStore(id).catch(storage.noteTrouble),
    discarded: ({ id }) => forget(id),
    cleared: () => waiters.ids().forEach((id) => forget(id)),
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

  /** Another tab may have ended what this one waits for. */
  const settleFromStore = async (id: string): Promise<void> => {
    const store = storage.durable()?.store;
    if (!store || !waiters.has(id) || unsaved.has(id)) return;
    const row = await store.find(id);
    if (row?.state === 'done') {
      waiters.resolve(id, await seal.open(row.result).catch(() => undefined));
      end(id);
      await store.acknowledge(id);
    } else if (row?.state === 'dead') {
      waiters.reject(id, toDeadLetter(row));
      end(id);
    } else if (!row) {
      const known = own.get(id);
      if (known) waiters.reject(id, gone(known.row));
      end(id);
    }
  };
  /** One after the other: there may be thousands. */
  const settleAll = async (): Promise<void> => {
    for (const id of waiters.ids()) await settleFromStore(id);
  };
  /** A person has discarded it. */
  const forget = (id: string, row?: Row, error?: unknown): void => {
    for (const { delivery } of storage.engines()) delivery.running(id)?.controller.abort();
    const known = row ?? own.get(id)?.row;
    if (known) waiters.reject(id, error ?? discarded(known));
    end(id);
  };

  const tell = (row: Row, progress: Omit<Progress, 'attempt'>): void =>
    own.get(row.id)?.onProgress?.({ ...progress, attempt: row.attempts });
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
    if (ended.kind === 'done') {
      const { data, variables } = ended;
      waiters.resolve(id, data);
      end(id);
      onDelivered({ idempotencyKey: id, handler, variables, data });
      line.post({ kind: 'done', id, handler, variables, data });
      if (settled?.row) planSweep();
    } else if (ended.kind === 'dead' && settled?.row) {
      waiters.reject(id, toDeadLetter(settled.row, ended.error));
      end(id);
      line.post({ kind: 'dead', id });
    } else if (ended.kind === 'again' && settled?.row) {
      const { error, decision } = ended;
      tell(row, { live: undefined, retryAt: settled.row.nextRetryAt, decision, error });
    }
    if (settled?.next) tellDue(settled.next);
    changed();
  };

  const display = createDisplay(clock, () => storage.engines().map(({ store }) => store));
  const storage = createStorage({
    clock,
    open: context.open,
    startEngine: (backend) =>
      createEngine({
        ...context,
        store: createStore(backend),
        lock: backend.isDurable ? ports.lock : undefined,
        seal,
        isAwaited: ({ id }) => waiters.has(id),
        onLive,
        onEnd,
        onStart: changed,
        onOwn: () => line.post({ kind: 'owner' }),
        onError: (error) => storage.noteTrouble(error),
      }),
    onOpen: (engine) => resume(engine),
    show: (reason) => display.showStorage(reason),
  });
  const { cure, ...desk } = createDesk({
    clock,
    handlers,
    seal,
    ready: storage.ready,
    engines: storage.engines,
    onDue: tellDue,
    onRename: waiters.rename,
    onDiscard(row, error) {
      forget(row.id, row, error);
      line.post({ kind: 'discarded', id: row.id });
    },
    onClear() {
      waiters.ids().forEach((id) => forget(id));
      line.post({ kind: 'cleared' });
    },
    onChange: changed,
  });

  const resume = async (engine: Engine): Promise<void> => {
    const { store, ownership } = engine;
    // What this page has submitted, and is not there: somebody has deleted the database.
    for (const [id, { row }] of own)
      if (!unsaved.has(id) && !(await store.find(id)))
        await engine.add({ ...row, isInDoubt: true });
    await ownership.look();
    await cure(engine);
    await store.sweep(clock.now() - keepResultMs);
    display.refresh();
  };
  const planSweep = (): void => {
    if (sweepTimer !== undefined || isOver) return;
    sweepTimer = clock.setTimeout(() => {
      sweepTimer = undefined;
      const store = storage.durable()?.store;
      store?.sweep(clock.now() - keepResultMs).catch(storage.noteTrouble);
    }, keepResultMs + 1000);
    clock.unref?.(sweepTimer);
  };
  const unwatch = ports.watch((now) => {
    const wasAway = isAway;
    isAway = now === 'away';
    const engine = storage.durable();
    if (!engine) return;
    const { ownership, delivery } = engine;
    if (isAway) {
      for (const { owner } of ownership.held()) delivery.drop(owner);
      return ownership.leave();
    }
    ownership.look().catch(storage.noteTrouble);
    for (const one of storage.engines()) one.delivery.look();
    if (wasAway) settleAll().catch(storage.noteTrouble);
    display.refresh();
  });

  const keep = async (row: Unplaced, onProgress: Own['onProgress']): Promise<boolean> => {
    const { id } = row;
    own.set(id, { row, onProgress });
    const { row: added, isDurable } = await storage.add(row);
    if (isDurable) unsaved.delete(id);
    guard();
    // It was there already: another press under the same key.
    if (added.state === 'done') await settleFromStore(id);
    else if (added.attempts > 0 || added.state === 'dead') await desk.retry(id);
    changed();
    return isDurable;
  };

  return {
    ...desk,
    getState: display.getState,
    subscribe: display.subscribe,
    onChange: display.onChange,
    submit(name, variables, intent, onProgress) {
      const definition =
        handlers.get(name) ??
        reject('outbox', 'handler', name, `one of ${[...handlers.keys()].join(', ')}`);
      const { handler, version } = definition;
      const nowMs = clock.now();
      const scope = typeof handler.scope === 'function' ? handler.scope(variables) : handler.scope;
      const closing = seal.close(`outbox '${name}'`, variables);
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
        attempts: 0,
        isInDoubt: wasSent ?? false,
        ...(scope !== undefined && { scope, blocks: scope }),
        ...(primary !== undefined && { primary }),
      } as const;
      const delivered = waiters.wait(key);
      // Whoever does not look at it finds its end among the entries.
      delivered.catch(() => {});
      unsaved.add(key);
      guard();
      // In the order in which they were submitted.
      const saved = turn.then(async () => {
        try {
          return { isDurable: await keep({ ...row, variables: await closing }, onProgress) };
        } catch (error) {
          waiters.reject(key, error);
          end(key);
          throw error;
        }
      });
      turn = saved.catch(() => {});
      return { idempotencyKey: key, saved, delivered };
    },
    dispose() {
      isOver = true;
      unwatch();
      display.dispose();
      clock.clearTimeout(sweepTimer);
      storage.dispose();
      line.close();
      unsaved.clear();
      guard();
    },
  };
}
