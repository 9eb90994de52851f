import { type Alarm, startAlarm } from '../lib/timer.ts';
import type { Network } from '../origin/origin.ts';
import type { TabLife, TabPorts } from '../tabs/ports.ts';
import { ClearMark, Forget, obeyMark } from './clear.ts';
import { createCodec, type OutboxCipher } from './codec.ts';
import type { Engine } from './delivery/engine.ts';
import {
  type EntryEnd,
  type EntryListener,
  type OutboxPage,
  PageMemory,
  type SenderContext,
} from './delivery/page.ts';
import { Enqueuer, type Receipt, Receipts } from './enqueue.ts';
import { Entries } from './entries.ts';
import { disposedOf, isUnrepeatable, leftBehind, needsNewKey, toDeadLetter } from './errors.ts';
import type { HandlerDefinition } from './handler.ts';
import { type Listeners, OtherTabs, Pauses, Successes } from './messages.ts';
import { Redrive, Sweeper } from './redrive.ts';
import { createDisplay, type Display, isAnyLeft } from './state.ts';
import { EntryStorage, type OpenDatabase } from './storage.ts';
import { originOfLane, type Row } from './store/row.ts';

/** An entry was delivered, by this tab or another. */
export interface Delivered {
  readonly idempotencyKey: string;
  readonly handler: string;
  readonly variables: unknown;
  readonly data: unknown;
}

export interface OutboxCoreContext {
  readonly sender: SenderContext;
  readonly network: Network;
  readonly ports: TabPorts;
  readonly name: string;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly cipher: OutboxCipher | undefined;
  readonly parallel: number;
  readonly open: OpenDatabase;
  /** Something is to be sent, and this page may not be there to do it. */
  readonly onLeft: () => void;
  readonly onDelivered: (delivered: Delivered) => void;
}

/** Where no tab can tell another anything. */
const pollMs = 5000;
/** What could not be read of the disk when it was opened is tried again after so long. */
const resumeAgainMs = 5000;

/**
 * An outbox, whatever is built on it: what is submitted to it goes from here, or from another tab. What becomes of
 * an entry is told here, to this tab and to the others.
 */
export class OutboxCore {
  readonly display: Display;
  readonly entries: Entries;
  readonly #context: OutboxCoreContext;
  readonly #page: OutboxPage;
  readonly #storage: EntryStorage;
  readonly #redrive: Redrive;
  readonly #sweeper: Sweeper;
  readonly #forget: Forget;
  readonly #enqueuer: Enqueuer;
  readonly #successes: Successes;
  readonly #leaveWorld: () => void;
  #setPoll: Alarm | undefined;
  #isAway = false;
  #isDisposed = false;

  constructor(context: OutboxCoreContext) {
    const { sender, network, ports, name, handlers, cipher, parallel } = context;
    const { clock } = sender;
    const mark = new ClearMark(name);
    const others = new OtherTabs(ports, name, this.#listenToTabs());
    const page: OutboxPage = {
      name,
      clock,
      sender,
      network,
      lock: ports.lock,
      handlers,
      codec: createCodec(cipher, clock),
      parallel,
      startedAt: clock.now(),
      receipts: new Receipts(),
      memory: new PageMemory(sender.operations),
      pauses: new Pauses((message) => others.post(message)),
      display: createDisplay(clock, (nowMs) => this.#storage.count(nowMs)),
      others,
      clearing: () => mark.get(),
    };
    const listener: EntryListener = {
      onChange: this.#change,
      onDue: this.#setDue,
      onEnd: this.#end,
      onSetAside: this.#tellSetAside,
      onCleared: (token) => void this.#forget.obey(token),
      onLoss: () => void this.#redrive.hearAll(),
    };
    const open: OpenDatabase = async (disk) => {
      const backend = await context.open(disk);
      await obeyMark(mark, clock, backend);
      return backend;
    };
    this.#context = context;
    this.#page = page;
    this.display = page.display;
    const storage = new EntryStorage(page, open, listener, (engine) => this.#resume(engine));
    this.#storage = storage;
    const parts = { ...page, storage, listener };
    this.#sweeper = new Sweeper(clock, storage);
    this.#redrive = new Redrive(parts);
    this.#forget = new Forget(parts, mark);
    this.entries = new Entries(parts, this.#forget);
    this.#enqueuer = new Enqueuer(page, {
      add: (...given) => storage.add(...given),
      discard: (id) => this.entries.discard(id),
      onKept: (entry, isDurable) => this.#welcome(entry, isDurable),
    });
    this.#successes = new Successes(
      sender.emitter,
      clock,
      (origin) => storage.engines().forEach(({ worker }) => worker.wake(origin)),
      (origin) => isAnyLeft(this.display.getState()) && others.post({ kind: 'up', origin }),
    );
    this.#leaveWorld = this.#join();
    page.pauses.ask();
  }

  readonly submit: Enqueuer['submit'] = (...given) => this.#enqueuer.submit(...given);

  readonly discard = async (id: string, error?: unknown): Promise<boolean> => {
    // It may be on its way to the disk.
    await this.#enqueuer.turn();
    return this.entries.discard(id, error);
  };

  /** Forgets all entries, in all tabs. */
  readonly clear = async (): Promise<void> => {
    if (this.#isDisposed) throw disposedOf('outbox.clear');
    const clearing = this.#forget.all();
    void this.#enqueuer.turn(clearing);
    await clearing;
  };

  /** Resolves with what sends the entries on the disk, once it is known whether there is one. */
  readonly engine = async (): Promise<Engine | undefined> => {
    await this.#storage.ready();
    return this.#storage.durable();
  };

  /** Nothing more is sent from here; what is kept stays. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#enqueuer.close();
    this.#leaveWorld();
    this.#successes.dispose();
    this.#setPoll?.(Infinity);
    this.display.dispose();
    this.#sweeper.dispose();
    this.#storage.stop();
    this.#leave(({ savedIn }) => savedIn !== undefined);
    void this.#close();
  }

  /** Writes that are on their way reach the disk, and a clear is done, before the database is closed. */
  async #close(): Promise<void> {
    const { others } = this.#page;
    await this.#enqueuer.turn();
    this.#storage.dispose();
    // A tab that has not heard of its entries yet looks for them.
    others.post({ kind: 'owner' });
    others.close();
    this.#leave(() => true);
  }

  /** Submitters that still wait are told what becomes of their entries from here on. */
  #leave(isKnown: (receipt: Receipt) => boolean): void {
    const { receipts } = this.#page;
    for (const [id, known] of receipts.all())
      if (isKnown(known)) receipts.reject(id, leftBehind(known.facts, known.savedIn !== undefined));
  }

  #listenToTabs(): Listeners {
    return {
      changed: () => this.display.refresh(),
      owner: () => this.#lookForOwners(),
      due: ({ owner, seq, isUrged }) =>
        this.#storage.durable()?.worker.add({ seq, owner, nextRetryAt: 0 }, isUrged),
      up: ({ origin }) => this.#successes.hear(origin),
      done: ({ id, handler, variables, data }) => {
        this.#page.memory.endWaiting(id, 'succeeded');
        void this.#tellDelivered({ idempotencyKey: id, handler, variables, data });
        void this.#redrive.settle(id, { data });
        this.#sweeper.plan();
      },
      ended: ({ id }) => {
        this.#page.memory.endWaiting(id, 'failed');
        void this.#redrive.hear(id);
      },
      renamed: ({ id, next }) => {
        this.#page.memory.endWaiting(id, 'cancelled');
        this.#page.receipts.rename(id, next);
      },
      discarded: ({ id, isInDoubt }) => {
        const known = this.#page.receipts.get(id);
        this.#forget.one(id, known && { ...known.facts, isInDoubt });
      },
      cleared: ({ token }) => void this.#forget.obey(token),
      paused: (said) => this.#page.pauses.hear(said),
      here: () => this.#page.pauses.answer(),
    };
  }

  /** Watches the page and the requests of the instance. @returns what ends that. */
  #join(): () => void {
    const { ports, sender } = this.#context;
    const { waitingWrites } = sender;
    const removeSource = waitingWrites.addSource((origin) =>
      this.#storage.engines().some(({ worker }) => worker.isReleasing(origin)),
    );
    const unwatch = ports.watch((now) => this.#follow(now));
    if (!this.#page.others.isOpen) this.#poll();
    return () => {
      unwatch();
      removeSource();
    };
  }

  #follow(now: TabLife): void {
    const wasAway = this.#isAway;
    this.#isAway = now === 'away';
    const engine = this.#storage.durable();
    if (now !== 'visible' && engine?.ownership.held()[0]) this.#context.onLeft();
    // A page in the back-forward cache cannot hold these.
    if (this.#isAway) return engine?.leave();
    void engine?.ownership.comeBack();
    this.#look();
    if (!wasAway) return;
    void this.#redrive.hearAll();
    this.#page.pauses.ask();
  }

  /** Where no tab can tell another anything, each looks for itself. */
  #poll(): void {
    this.#setPoll = startAlarm(this.#page.clock, pollMs, () => {
      void this.#storage.durable()?.ownership.look();
      this.#look();
      void this.#redrive.hearAll();
      this.#poll();
    });
  }

  /** Time has passed, or a user looks at the page: what is due is looked for again. */
  #look(): void {
    for (const { worker } of this.#storage.engines()) worker.look();
    this.display.refresh();
  }

  #lookForOwners(): void {
    const engine = this.#storage.durable();
    void engine?.ownership.look();
    engine?.worker.look();
  }

  async #resume(engine: Engine): Promise<void> {
    const steps = [
      // First: what it revives has an end that was not told yet.
      () => this.#redrive.all(engine),
      () => this.#enqueuer.restore(engine, (id) => this.#redrive.settle(id)),
      () => engine.ownership.look(),
      // The tab that has delivered what is not old enough yet may be gone before it is.
      () => this.#sweeper.sweep(engine),
    ];
    let isAgain = false;
    for (const step of steps)
      await step().catch((error: unknown) => {
        engine.onError(error);
        isAgain = true;
      });
    this.display.refresh();
    if (isAgain)
      startAlarm(this.#page.clock, resumeAgainMs, () => {
        if (this.#storage.durable() === engine && !this.#isDisposed) void this.#resume(engine);
      });
  }

  /** An entry is kept. It may have been there already, by another press under the same key. */
  async #welcome(entry: Row, isDurable: boolean): Promise<void> {
    const { id, state, attempts } = entry;
    if (isDurable && this.#page.network.isOffline()) this.#context.onLeft();
    if (state === 'done') await this.#redrive.settle(id);
    else if (state === 'dead' && (isUnrepeatable(entry) || needsNewKey(entry.deadReason)))
      this.#page.receipts.reject(id, toDeadLetter(entry));
    else if (attempts > 0 || state === 'dead') await this.entries.retry(id);
    this.#change();
  }

  /** An error that it throws surfaces as an unhandled rejection: that must not cost an entry its turn. */
  async #tellDelivered(delivered: Delivered): Promise<void> {
    this.#context.onDelivered(delivered);
  }

  readonly #change = (): void => {
    this.display.refresh();
    this.#page.others.post({ kind: 'changed' });
  };

  readonly #setDue: EntryListener['onDue'] = (entry, isUrged = false) => {
    const { owner, seq } = entry;
    for (const { worker } of this.#storage.engines()) worker.add(entry, isUrged);
    if (owner !== undefined) this.#page.others.post({ kind: 'due', owner, seq, isUrged });
  };

  readonly #end: EntryListener['onEnd'] = (entry, ended, settled) => {
    const { memory } = this.#page;
    const { id } = entry;
    const { row, next } = settled ?? {};
    if (ended.kind === 'again' && !row) memory.endWaiting(id, 'cancelled');
    // Another tab has it now, and says what becomes of it; or it is gone.
    if (!settled) void this.#redrive.settle(id, ended.kind === 'done' ? ended : undefined);
    else this.#tellEnd(entry, ended, row);
    if (next) this.#setDue(next);
    this.#change();
  };

  #tellEnd(entry: Row, ended: EntryEnd, row: Row | undefined): void {
    const { receipts, others } = this.#page;
    const { id, handler } = entry;
    if (ended.kind === 'done') {
      const { data, variables } = ended;
      receipts.resolve(id, data);
      void this.#tellDelivered({ idempotencyKey: id, handler, variables, data });
      others.post({ kind: 'done', id, handler, variables, data });
      if (row) this.#sweeper.plan();
    } else if (ended.kind === 'dead' && row) {
      this.#redrive.giveUp(id);
      receipts.reject(id, toDeadLetter(row, ended.error));
      others.post({ kind: 'ended', id });
    } else if (ended.kind === 'too-new') {
      others.post({ kind: 'ended', id });
    } else if (ended.kind === 'again' && row) {
      const { error, decision } = ended;
      receipts.tell(entry, { error, decision, retryAt: row.nextRetryAt });
      this.#successes.recheck(originOfLane(row.lane), ended.decidedAt);
    }
  }

  readonly #tellSetAside: EntryListener['onSetAside'] = (left, next) => {
    if (left.state === 'dead') {
      this.#page.receipts.reject(left.id, toDeadLetter(left));
      this.#page.others.post({ kind: 'ended', id: left.id });
    }
    if (next) this.#setDue(next);
    this.#change();
  };
}
