import type { Network } from '../origin/origin.ts';
import type { Readable } from '../lib/store.ts';
import type { TabPorts } from '../tabs/ports.ts';
import type { SenderContext } from './delivery/attempt.ts';
import { type Alarm, startAlarm } from '../lib/timer.ts';
import { createClearMark, createForget, obeyMark } from './clear.ts';
import { createCodec, type OutboxCipher } from './codec.ts';
import { createPageMemory } from './delivery/deliver.ts';
import type { EntryEnd } from './delivery/end-attempt.ts';
import type { Engine } from './delivery/engine.ts';
import { createEnqueuer, createReceipts, type Enqueuer, type Receipt } from './enqueue.ts';
import { createEntries, type Entries } from './entries.ts';
import { disposedOf, isUnrepeatable, leftBehind, needsNewKey, toDeadLetter } from './errors.ts';
import type { HandlerDefinition } from './handler.ts';
import { createPauses, joinTabs, watchSuccesses } from './messages.ts';
import { createRedrive, createSweeper } from './redrive.ts';
import { createDisplay, type Display, isAnyLeft, type OutboxState } from './state.ts';
import { EntryStorage, type StorageContext } from './storage.ts';
import type { Settled } from './store/row-store.ts';
import { type Row, originOfLane } from './store/row.ts';

/** An entry was delivered, by this tab or another. */
export interface Delivered {
  readonly idempotencyKey: string;
  readonly handler: string;
  readonly variables: unknown;
  readonly data: unknown;
}

/** An outbox, whatever is built on it: what is submitted to it goes from here, or from another tab. */
export interface OutboxCore
  extends Readable<OutboxState>, Pick<Display, 'onChange'>, Pick<Enqueuer, 'submit'>, Entries {
  /** Forgets all entries, in all tabs. */
  readonly clear: () => Promise<void>;
  /** Resolves with what sends the entries on the disk, once it is known whether there is one. */
  readonly engine: () => Promise<Engine | undefined>;
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

/** Where no tab can tell another anything. */
const pollMs = 5000;
/** What could not be read of the disk when it was opened is tried again after so long. */
const resumeAgainMs = 5000;

/** Puts an outbox together: what becomes of an entry is told here, to this tab and to the others. */
export function createOutboxCore(context: OutboxCoreContext): OutboxCore {
  const { ports, onLeft } = context;
  const { clock } = context.sender;
  const receipts = createReceipts();

  /** What it throws surfaces as an unhandled rejection: that must not cost anybody their turn. */
  const tellDelivered = async (delivered: Delivered): Promise<void> =>
    context.onDelivered(delivered);
  const onChange = (): void => {
    display.refresh();
    others.post({ kind: 'changed' });
  };
  const onDue = (entry: Row, isUrged = false): void => {
    const { owner, seq } = entry;
    for (const { worker } of storage.engines()) worker.add(entry, isUrged);
    if (owner !== undefined) others.post({ kind: 'due', owner: owner, seq, isUrged });
  };

  const mark = createClearMark(context.name);
  const pauses = createPauses((message) => others.post(message));
  const display = createDisplay(clock, () => storage, pauses);
  const others = joinTabs(ports, context.name, {
    changed: display.refresh,
    owner() {
      void storage.durable()?.ownership.look();
      storage.durable()?.worker.look();
    },
    due: ({ owner, seq, isUrged }) =>
      storage.durable()?.worker.add({ seq, owner: owner, nextRetryAt: 0 }, isUrged),
    up: ({ origin }) => successes.hear(origin),
    done({ id, handler, variables, data }) {
      memory.endWaiting(id, 'succeeded');
      void tellDelivered({ idempotencyKey: id, handler, variables, data });
      void redrive.settle(id, { data });
      sweeper.plan();
    },
    ended({ id }) {
      memory.endWaiting(id, 'failed');
      void redrive.hear(id);
    },
    renamed({ id, next }) {
      memory.endWaiting(id, 'cancelled');
      receipts.rename(id, next);
    },
    discarded({ id, isInDoubt }) {
      const known = receipts.get(id);
      forget.one(id, known && { ...known.facts, isInDoubt });
    },
    cleared: ({ token }) => void forget.obey(token),
    paused: pauses.hear,
    here: pauses.answer,
  });
  const memory = createPageMemory(context.sender.operations);
  const shared = {
    ...context,
    clock,
    lock: ports.lock,
    startedAt: clock.now(),
    codec: createCodec(context.cipher, clock),
    receipts,
    memory,
    clearing: mark.get,
    pauses,
    display,
    others,
    onChange,
    onDue,
  };
  const onEnd = (entry: Row, ended: EntryEnd, settled: Settled | undefined): void => {
    const { id, handler } = entry;
    if (ended.kind === 'again' && !settled?.row) memory.endWaiting(id, 'cancelled');
    if (!settled) {
      // Another tab has it now, and says what becomes of it; or nobody has it any more.
      void redrive.settle(id, ended.kind === 'done' ? ended : undefined);
    } else if (ended.kind === 'done') {
      const { data, variables } = ended;
      receipts.resolve(id, data);
      void tellDelivered({ idempotencyKey: id, handler, variables, data });
      others.post({ kind: 'done', id, handler, variables, data });
      if (settled.row) sweeper.plan();
    } else if (ended.kind === 'dead' && settled.row) {
      redrive.giveUp(id);
      receipts.reject(id, toDeadLetter(settled.row, ended.error));
      others.post({ kind: 'ended', id });
    } else if (ended.kind === 'too-new') {
      others.post({ kind: 'ended', id });
    } else if (ended.kind === 'again' && settled.row) {
      const retryAt = settled.row.nextRetryAt;
      receipts.tell(entry, { error: ended.error, decision: ended.decision, retryAt });
      successes.recheck(originOfLane(settled.row.lane), settled.row.plannedAt ?? 0);
    }
    if (settled?.next) onDue(settled.next);
    onChange();
  };

  const storage: EntryStorage = new EntryStorage({
    ...shared,
    async open(listener) {
      const backend = await context.open(listener);
      await obeyMark(mark, clock, backend);
      return backend;
    },
    onEnd,
    onLoss: () => void redrive.hearAll(),
    onCleared: (token) => void forget.obey(token),
    onSetAside(left, next) {
      if (left.state === 'dead') {
        receipts.reject(left.id, toDeadLetter(left));
        others.post({ kind: 'ended', id: left.id });
      }
      if (next) onDue(next);
      onChange();
    },
    onOpen: (engine) => resume(engine),
  });
  const sweeper = createSweeper(clock, () => storage.durable());
  const redrive = createRedrive({ ...shared, storage });
  const forget = createForget({ ...shared, mark, storage });
  const entries = createEntries({ ...shared, storage, forget });
  const enqueuer = createEnqueuer({
    ...shared,
    add: (...given) => storage.add(...given),
    discard: entries.discard,
    async onKept(entry, isDurable) {
      const { id, state, attempts } = entry;
      if (isDurable && context.network.isOffline()) onLeft();
      // It was there already: another press under the same key.
      if (state === 'done') await redrive.settle(id);
      else if (state === 'dead' && (isUnrepeatable(entry) || needsNewKey(entry.deadReason)))
        receipts.reject(id, toDeadLetter(entry));
      else if (attempts > 0 || state === 'dead') await entries.retry(id);
      onChange();
    },
  });

  const resume = async (engine: Engine): Promise<void> => {
    const steps = [
      // First: what it revives has an end that nobody was told yet.
      () => redrive.all(engine),
      () => enqueuer.restore(engine, redrive.settle),
      () => engine.ownership.look(),
      // Whoever has delivered what is not old enough yet may be gone before it is.
      () => sweeper.sweep(engine),
    ];
    let isAgain = false;
    for (const step of steps)
      await step().catch((error: unknown) => {
        engine.onError(error);
        isAgain = true;
      });
    display.refresh();
    if (isAgain)
      startAlarm(clock, resumeAgainMs, () => {
        if (storage.durable() === engine && !isDisposed) void resume(engine);
      });
  };
  const removeSource = context.sender.waitingWrites.addSource((origin) =>
    storage.engines().some(({ worker }) => worker.isReleasing(origin)),
  );
  const successes = watchSuccesses(
    context.sender.emitter,
    clock,
    (origin) => {
      for (const { worker } of storage.engines()) worker.wake(origin);
    },
    (origin) => {
      if (isAnyLeft(display.getState())) others.post({ kind: 'up', origin });
    },
  );
  /** Time has passed, or somebody looks at the page: what is due is looked for again. */
  const look = (): void => {
    for (const { worker } of storage.engines()) worker.look();
    display.refresh();
  };
  let setPoll: Alarm | undefined;
  /** Where no tab can tell another anything, each looks for itself. */
  const poll = (): void => {
    setPoll = startAlarm(clock, pollMs, () => {
      void storage.durable()?.ownership.look();
      look();
      void redrive.hearAll();
      poll();
    });
  };
  if (!others.isOpen) poll();
  let isAway = false;
  const unwatch = ports.watch((now) => {
    const wasAway = isAway;
    isAway = now === 'away';
    const engine = storage.durable();
    if (now !== 'visible' && engine?.ownership.held()[0]) onLeft();
    // What a page that is put away cannot hold.
    if (isAway) return engine?.leave();
    void engine?.ownership.comeBack();
    look();
    if (!wasAway) return;
    void redrive.hearAll();
    pauses.ask();
  });

  let isDisposed = false;
  /** Whoever waits is told what becomes of it from here on. */
  const leave = (isKnown: (receipt: Receipt) => boolean): void => {
    for (const [id, known] of receipts.all())
      if (isKnown(known)) receipts.reject(id, leftBehind(known.facts, known.savedIn !== undefined));
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
    async engine() {
      await storage.ready();
      return storage.durable();
    },
    dispose() {
      if (isDisposed) return;
      isDisposed = true;
      enqueuer.close();
      unwatch();
      successes.dispose();
      removeSource();
      setPoll?.(Infinity);
      display.dispose();
      sweeper.dispose();
      storage.stop();
      leave(({ savedIn }) => savedIn !== undefined);
      void end();
    },
  };
}
