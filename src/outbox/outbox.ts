import { createPageMemory, type RowEnd } from './deliver.ts';
import { createClearMark } from './clear-mark.ts';
import { createForget } from './clear.ts';
import { createRowStore } from './store/create-row-store.ts';
import { createRedrive } from './redrive.ts';
import { createEntries, toDeadLetter } from './entries.ts';
import { drainEngine } from './background-sync.ts';
import { createEngine, type Engine } from './engine.ts';
import { disposedOf, isUnrepeatable, leftBehind } from './errors.ts';
import { createPauses } from './pauses.ts';
import { createEnqueuer } from './enqueue.ts';
import { joinTabs } from './messages.ts';
import type { Delivered, OutboxCore, OutboxCoreContext } from './outbox-core.ts';
import { createDisplay, isAnyLeft } from './state.ts';
import {
  createSettle,
  createSubmissions,
  followAttempt,
  type Submission,
  tellProgress,
} from './submissions.ts';
import type { Row } from './store/schema.ts';
import { createCodec } from './codec.ts';
import { originOfLane } from './due.ts';
import { createStorage } from './storage.ts';
import type { Settled } from './store/row-store.ts';
import { watchSuccesses } from './successes.ts';
import { createSweeper, watchPage } from './upkeep.ts';

/** Where no tab can tell another anything. */
const pollMs = 5000;

/** Puts an outbox together: what becomes of a row is told here, to this tab and to the others. */
export function createOutboxCore(context: OutboxCoreContext): OutboxCore {
  const { network, ports, handlers, onLeft } = context;
  const { clock } = context.sender;
  const startedAt = clock.now();
  const codec = createCodec(context.cipher, clock);
  const submissions = createSubmissions();
  const memory = createPageMemory();

  const onDelivered = (delivered: Delivered): void => {
    try {
      context.onDelivered(delivered);
    } catch (error) {
      // Surfaces as an unhandled rejection: the app's mistake must not cost anybody their turn.
      void Promise.reject(error);
    }
  };
  const onChange = (): void => {
    display.refresh();
    others.post({ kind: 'changed' });
  };
  const onDue = (row: Row, isUrged = false): void => {
    const { liveOwner, seq } = row;
    for (const { worker } of storage.engines()) worker.add(row, isUrged);
    if (liveOwner !== undefined) others.post({ kind: 'due', owner: liveOwner, seq, isUrged });
  };

  const mark = createClearMark(context.name);
  const pauses = createPauses((message) => others.post(message));
  const display = createDisplay(clock, () => storage.engines(), pauses);
  const storage = createStorage({
    ...context,
    clock,
    mark,
    startEngine: (backend, onError) =>
      createEngine({
        ...context,
        store: createRowStore(
          backend,
          backend.isDurable ? { isSending: isSendingInMemory } : { isBlocked: isBlockedOnDisk },
        ),
        lock: backend.isDurable ? ports.lock : undefined,
        clearing: backend.isDurable ? mark.get : () => undefined,
        onCleared: (token) => void forget.obey(token),
        startedAt,
        codec,
        memory,
        waiting: submissions.get,
        onLive: (row, live) => followAttempt(submissions, pauses, row, live, display.refresh),
        onEnd,
        onStart: onChange,
        onTurn: onDue,
        onOwn: () => others.post({ kind: 'owner' }),
        onError,
      }),
    onOpen: (engine) => resume(engine),
    show: display.showStorage,
    onErased: display.showErased,
  });
  const isSendingInMemory = (scope: string): boolean =>
    storage.engines().some(({ store }) => store.isSending(scope));
  const isBlockedOnDisk = async (scope: string): Promise<boolean> =>
    (await storage
      .durable()
      ?.store.isBlocked(scope)
      .catch(() => false)) ?? false;
  const sweeper = createSweeper(clock, storage.durable);
  const redrive = createRedrive(handlers, startedAt, onDue);
  const settle = createSettle(submissions, codec, storage.durable);
  const forget = createForget(
    clock,
    submissions,
    storage,
    mark,
    (token) => others.post({ kind: 'cleared', token }),
    onChange,
  );
  /** What another tab cannot deliver, this one perhaps can: it is of another version of the app. */
  const redriveOrSettle = async (id: string): Promise<void> => {
    const engine = storage.durable();
    const isRedriven = engine && (await redrive.hear(engine, id).catch(engine.onError));
    if (!isRedriven) await settle(id);
  };
  const others = joinTabs(ports, context.name, {
    changed: display.refresh,
    owner() {
      const engine = storage.durable();
      void engine?.ownership.look();
      engine?.worker.look();
    },
    due({ owner, seq, isUrged }) {
      const due = { seq, liveOwner: owner, nextRetryAt: 0 };
      storage.durable()?.worker.add(due, isUrged);
    },
    up: ({ origin }) => successes.hear(origin),
    done({ id, handler, variables, data }) {
      onDelivered({ idempotencyKey: id, handler, variables, data });
      void settle(id, { data });
      sweeper.plan();
    },
    ended: ({ id }) => void redriveOrSettle(id),
    renamed: ({ id, next }) => submissions.rename(id, next),
    discarded({ id, isInDoubt }) {
      const known = submissions.get(id);
      forget.one(id, known && { ...known.facts, isInDoubt });
    },
    cleared: ({ token }) => void forget.obey(token),
    paused: pauses.hear,
    here: pauses.answer,
  });
  const onEnd = (row: Row, ended: RowEnd, settled: Settled | undefined): void => {
    const { id, handler } = row;
    if (!settled) {
      // Another tab has it now, and says what becomes of it; or nobody has it any more.
      void settle(id, ended.kind === 'done' ? ended : undefined);
    } else if (ended.kind === 'done') {
      const { data, variables } = ended;
      submissions.resolve(id, data);
      onDelivered({ idempotencyKey: id, handler, variables, data });
      others.post({ kind: 'done', id, handler, variables, data });
      if (settled.row) sweeper.plan();
    } else if (ended.kind === 'dead' && settled.row) {
      redrive.giveUp(id);
      submissions.reject(id, toDeadLetter(settled.row, ended.error));
      others.post({ kind: 'ended', id });
    } else if (ended.kind === 'too-new') {
      others.post({ kind: 'ended', id });
    } else if (ended.kind === 'again' && settled.row) {
      const retryAt = settled.row.nextRetryAt;
      tellProgress(submissions, row, { ...ended, live: undefined, retryAt });
      successes.recheck(originOfLane(settled.row.lane), settled.row.plannedAt ?? 0);
    }
    if (settled?.next) onDue(settled.next);
    onChange();
  };

  const entries = createEntries({
    ...context,
    clock,
    codec,
    pauses,
    storage,
    onDue,
    onRename(id, row) {
      submissions.rename(id, row.id, row);
      others.post({ kind: 'renamed', id, next: row.id });
    },
    onDiscard(row, error) {
      const isInDoubt = row.isInDoubt || row.state === 'sending' || row.state === 'done';
      forget.one(row.id, { ...row, isInDoubt }, error);
      others.post({ kind: 'discarded', id: row.id, isInDoubt });
    },
    onChange,
  });
  const enqueuer = createEnqueuer(
    clock,
    handlers,
    codec,
    submissions,
    storage,
    entries.discard,
    async (row, isDurable) => {
      const { id, state, attempts } = row;
      if (isDurable && network.isOffline()) onLeft();
      // It was there already: another press under the same key.
      if (state === 'done') await settle(id);
      else if (state === 'dead' && isUnrepeatable(row)) submissions.reject(id, toDeadLetter(row));
      else if (attempts > 0 || state === 'dead') await entries.retry(id);
      onChange();
    },
  );

  const resume = async (engine: Engine): Promise<void> => {
    await enqueuer.restore(engine.store);
    await engine.ownership.look();
    await engine.adoptStrays();
    await redrive.all(engine);
    // Whoever has delivered what is not old enough yet may be gone before it is.
    await sweeper.sweep(engine);
    display.refresh();
  };
  /** One after the other: there may be thousands. */
  const settleAll = async (): Promise<void> => {
    for (const [id] of submissions.all()) await redriveOrSettle(id);
    const engine = storage.durable();
    if (engine) await redrive.all(engine).catch(engine.onError);
  };
  const successes = watchSuccesses(
    context.sender.emitter,
    clock,
    (origin) => storage.engines().forEach(({ worker }) => worker.wake(origin)),
    (origin) => isAnyLeft(display.getState()) && others.post({ kind: 'up', origin }),
  );
  let timer: unknown;
  /** Where no tab can tell another anything, each looks for itself. */
  const poll = (): void => {
    timer = clock.setTimeout(() => {
      void storage.durable()?.ownership.look();
      for (const { worker } of storage.engines()) worker.look();
      void settleAll();
      display.refresh();
      poll();
    }, pollMs);
    clock.unref?.(timer);
  };
  if (!others.isOpen) poll();
  const unwatch = watchPage(ports, storage, onLeft, (wasAway) => {
    if (wasAway) {
      void settleAll();
      pauses.ask();
    }
    display.refresh();
  });

  let isDisposed = false;
  /** Whoever waits is told what becomes of it from here on. */
  const leave = (isKnown: (submission: Submission) => boolean): void => {
    for (const [id, known] of submissions.all())
      if (isKnown(known)) submissions.reject(id, leftBehind(known.facts, known.isSaved));
  };
  /** What is on its way to the disk gets there, and a clear is done, before the database is closed. */
  const end = async (): Promise<void> => {
    await enqueuer.turn();
    storage.dispose();
    // Whoever has not heard of its entries yet looks for them.
    others.post({ kind: 'owner' });
    others.close();
    leave(() => true);
  };

  pauses.ask();
  return {
    ...entries,
    async discard(id, error) {
      // It may be on its way to the disk.
      await enqueuer.turn();
      return entries.discard(id, error);
    },
    async clear() {
      if (isDisposed) throw disposedOf('outbox.clear');
      const clearing = forget.all();
      void enqueuer.turn(clearing);
      await clearing;
    },
    getState: display.getState,
    subscribe: display.subscribe,
    onChange: display.onChange,
    submit: enqueuer.submit,
    async drain() {
      await storage.ready();
      const engine = storage.durable();
      return !!engine && drainEngine(engine, clock);
    },
    dispose() {
      if (isDisposed) return;
      isDisposed = true;
      enqueuer.close();
      unwatch();
      successes.dispose();
      clock.clearTimeout(timer);
      display.dispose();
      sweeper.dispose();
      storage.stop();
      leave(({ isSaved }) => isSaved);
      void end();
    },
  };
}
