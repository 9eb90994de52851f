import { type Alarm, startAlarm } from '../core/lib/timer.ts';
import type { TabLife, TabPorts } from '../core/internal.ts';
import { ClearMark, Forget, obeyMark } from './clear.ts';
import { createCodec, type OutboxCipher } from './codec.ts';
import { Engine, type OutboxParts } from './delivery/engine.ts';
import { type Attempt, type EntryListener, type OutboxPage, PageMemory } from './delivery/page.ts';
import { Enqueuer } from './enqueue.ts';
import { Entries } from './entries.ts';
import { disposedOf, isDecidedElsewhere, leftBehind, toDeadLetter } from './errors.ts';
import type { LinksCode } from './links/outbox-links.ts';
import { type Listeners, OtherTabs, Pauses, Successes } from './messages.ts';
import { type Receipt, Receipts } from './receipts.ts';
import { Redrive } from './redrive.ts';
import { createDisplay, type Display, isAnyLeft } from './state.ts';
import { EntryStorage, type OpenDatabase } from './storage.ts';
import { alsoChanged } from './store/row-store.ts';
import { isInPage } from './store/memory.ts';
import { originOfLane, type Row, type Unplaced } from './store/row.ts';

/** An entry was delivered, by this tab or another. */
export interface Delivered {
  readonly idempotencyKey: string;
  readonly handler: string;
  readonly variables: unknown;
  readonly data: unknown;
}

export interface OutboxCoreContext extends Pick<
  OutboxPage,
  'clock' | 'sender' | 'network' | 'name' | 'handlers' | 'parallel'
> {
  readonly ports: TabPorts;
  readonly cipher: OutboxCipher | undefined;
  readonly links: LinksCode | undefined;
  readonly open: OpenDatabase;
  /** Called when something is to be sent, and this page may be closed before. */
  readonly onLeft: () => void;
  readonly onDelivered: (delivered: Delivered) => void;
}

/** How often this page reads the ends of its submissions from the disk: more often without a channel to other tabs. */
const checkMs = { withChannel: 20_000, alone: 5000 } as const;
/** How often results that are no longer needed are removed. */
const sweepMs = 600_000;

/**
 * An outbox without React Query. Entries are sent from this tab or from another one. The end of an entry is announced
 * here, to this tab and to the others.
 */
export class OutboxCore {
  readonly entries: Entries;
  readonly #context: OutboxCoreContext;
  readonly #parts: OutboxParts;
  readonly #redrive: Redrive;
  readonly #forget: Forget;
  readonly #enqueuer: Enqueuer;
  readonly #successes: Successes;
  readonly #leaveWorld: () => void;
  #setCheck: Alarm | undefined;
  #setSweep: Alarm | undefined;
  #isAway = false;
  #isDisposed = false;

  constructor(context: OutboxCoreContext) {
    const mark = new ClearMark(context.name);
    const page = this.#createPage(context, mark);
    const storage = this.#createStorage(context, page, mark);
    const engine = new Engine(page, storage, this.#listener);
    const parts: OutboxParts = { ...page, ...this.#listener, storage, engine };
    const { sender, ports } = context;
    this.#context = context;
    this.#parts = parts;
    this.#redrive = new Redrive(parts);
    this.#forget = new Forget(parts, mark);
    this.entries = new Entries(parts, this.#forget);
    this.#enqueuer = new Enqueuer(page, {
      add: (...given) => this.#add(...given),
      discard: (id) => this.entries.discard(id),
      onKept: (entry, isDurable) => this.#welcome(entry, isDurable),
    });
    this.#successes = new Successes(
      sender.emitter,
      page.clock,
      (origin) => engine.worker.wake(origin),
      (origin) => isAnyLeft(page.display.getState()) && page.others.post({ kind: 'up', origin }),
    );
    const removeSource = sender.waitingWrites.addSource((origin) =>
      engine.worker.isReleasing(origin),
    );
    const unwatch = ports.watch((now) => this.#follow(now));
    this.#leaveWorld = () => {
      unwatch();
      removeSource();
    };
    if (!page.others.isOpen) this.#planCheck();
    page.pauses.request();
  }

  #createPage(context: OutboxCoreContext, mark: ClearMark): OutboxPage {
    const { clock, sender, network, ports, name, handlers, cipher, links, parallel } = context;
    const others = new OtherTabs(ports, name, this.#listenToTabs());
    const pauses = new Pauses((message) => others.post(message), sender.clock);
    return {
      name,
      clock,
      sender,
      network,
      lock: ports.lock,
      handlers,
      codec: createCodec(cipher, clock),
      parallel,
      receipts: new Receipts(),
      memory: new PageMemory(sender.operations),
      pauses,
      display: createDisplay(clock, async (nowMs) => {
        const { storage, engine } = this.#parts;
        return storage.isBlind()
          ? undefined
          : engine.store.count(nowMs, pauses).catch(() => undefined);
      }),
      others,
      links,
      clearing: () => mark.get(),
    };
  }

  #createStorage(
    { open }: OutboxCoreContext,
    { clock, display }: OutboxPage,
    mark: ClearMark,
  ): EntryStorage {
    return new EntryStorage({
      clock,
      display,
      open: async (disk) => {
        const database = await open(disk);
        await obeyMark(mark, clock, database);
        return database;
      },
      onSetAside: this.#announceSetAside,
      onFollow: this.#announceFollowing,
      onOpen: (clears) => void this.#resume(clears),
      onLost: () => {
        const { engine } = this.#parts;
        engine.forget();
        engine.worker.disconnect();
      },
    });
  }

  readonly submit: Enqueuer['submit'] = (...given) => this.#enqueuer.submit(...given);

  readonly discard = async (id: string, error?: unknown): Promise<boolean> => {
    // The entry may not be stored yet.
    await this.#enqueuer.turn();
    return this.entries.discard(id, error);
  };

  readonly edit = (id: string, variables: unknown): Promise<string | undefined> =>
    this.entries.edit(id, variables, this.#enqueuer.turn());

  get display(): Display {
    return this.#parts.display;
  }

  readonly clear = async (): Promise<void> => {
    if (this.#isDisposed) throw disposedOf('outbox.clear');
    const clearing = this.#forget.all();
    void this.#enqueuer.turn(clearing);
    await clearing;
  };

  /** Resolves with the engine once it is known whether there is a disk; undefined without one. */
  readonly engine = async (): Promise<Engine | undefined> => {
    const { storage, engine } = this.#parts;
    await storage.ready();
    return storage.isOpen ? engine : undefined;
  };

  /** Sends nothing more from this page. Stored entries stay. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#enqueuer.close();
    this.#leaveWorld();
    this.#successes.dispose();
    this.#setCheck?.(Infinity);
    this.#setSweep?.(Infinity);
    const { display, storage, engine } = this.#parts;
    display.dispose();
    storage.stop();
    engine.stop();
    this.#leave(({ keptIn }) => keptIn === 'disk');
    void this.#close();
  }

  /** Closes the database after pending writes and a clear. */
  async #close(): Promise<void> {
    const { others, storage, engine } = this.#parts;
    await this.#enqueuer.turn();
    const given = engine.dispose();
    this.#leave(() => true);
    await given;
    storage.dispose();
    // Another tab may not know of its entries yet.
    others.post({ kind: 'owner' });
    others.close();
  }

  /** Rejects for submitters that still wait. */
  #leave(isKnown: (receipt: Receipt) => boolean): void {
    const { receipts } = this.#parts;
    for (const [id, known] of receipts.all())
      if (isKnown(known)) receipts.reject(id, leftBehind(known.facts, known.keptIn === 'disk'));
  }

  #listenToTabs(): Listeners {
    return {
      changed: () => this.display.refresh(),
      owner: () => {
        void this.#parts.engine.ownership.refresh();
        this.#parts.engine.worker.refresh();
      },
      due: ({ owner, seq, isUrged }) =>
        this.#parts.engine.worker.add({ seq, owner, nextRetryAt: 0 }, isUrged),
      up: ({ origin }) => this.#successes.receive(origin),
      done: ({ id, handler, variables, data }) => {
        this.#parts.memory.endWaiting(id, 'succeeded');
        void this.#announceDelivered({ idempotencyKey: id, handler, variables, data });
        void this.#redrive.resolve(id, { data });
        this.#planSweep();
        void this.#followInPage(id);
      },
      ended: ({ id }) => {
        this.#parts.memory.endWaiting(id, 'failed');
        void this.#redrive.receive(id);
        void this.#followInPage(id);
      },
      renamed: ({ id, next }) => {
        this.#parts.memory.endWaiting(id, 'cancelled');
        this.#parts.receipts.rename(id, next);
      },
      discarded: ({ id, isInDoubt }) => {
        const known = this.#parts.receipts.get(id);
        this.#forget.one(id, known && { ...known.facts, isInDoubt });
      },
      cleared: ({ token }) => void this.#forget.obey(token),
      paused: (paused) => this.#parts.pauses.receive(paused),
      here: () => this.#parts.pauses.answer(),
    };
  }

  #follow(now: TabLife): void {
    const wasAway = this.#isAway;
    this.#isAway = now === 'away';
    const { ownership } = this.#parts.engine;
    if (now !== 'visible' && ownership.held()[0]) this.#context.onLeft();
    // A page in the back-forward cache must not hold locks or a connection.
    if (this.#isAway) return this.#parts.engine.leave();
    void ownership.comeBack();
    this.#refresh();
    if (!wasAway) return;
    void this.#redrive.receiveAll();
    void this.#redrive.all();
    this.#parts.pauses.request();
  }

  #planCheck(): void {
    const { clock, others } = this.#parts;
    const { withChannel, alone } = checkMs;
    if (this.#isDisposed) return;
    this.#setCheck ??= startAlarm(clock, others.isOpen ? withChannel : alone, () => {
      this.#setCheck = undefined;
      void this.#checkReceipts();
    });
  }

  /** Reads from the disk what became of this page's submissions; without a channel to other tabs, also all other changes. */
  async #checkReceipts(): Promise<void> {
    const { others, engine, receipts } = this.#parts;
    if (!others.isOpen) {
      void engine.ownership.refresh();
      this.#refresh();
      await this.#redrive.all();
    }
    await this.#redrive.receiveAll();
    if (!others.isOpen || receipts.all().length > 0) this.#planCheck();
  }

  #refresh(): void {
    this.#parts.engine.worker.refresh();
    this.display.refresh();
  }

  /** Called when a database was opened. */
  async #resume(clears: readonly string[]): Promise<void> {
    const { engine } = this.#parts;
    await engine.takeOpened(clears);
    // First, because it revives entries whose end was not announced yet.
    await this.#redrive.all();
    await this.#redrive.receiveAll();
    await engine.ownership.refresh();
    await this.#sweep();
    this.display.refresh();
  }

  /** Removes results that were not read in time, and plans the next sweep while others are left. Never rejects. */
  async #sweep(): Promise<void> {
    const { engine, clock } = this.#parts;
    // The others are younger, or seem to be, because the clock was set back.
    if (await engine.store.sweep(clock.now()).catch(() => true)) this.#planSweep();
  }

  #planSweep(): void {
    this.#setSweep ??= startAlarm(this.#parts.clock, sweepMs + 1000, () => {
      this.#setSweep = undefined;
      if (!this.#isDisposed) void this.#sweep();
    });
  }

  async #add(entry: Unplaced, isWanted: () => boolean): Promise<Row> {
    const { storage, engine } = this.#parts;
    const { links } = this.#context;
    await storage.opened;
    if (!links) return engine.add(entry, isWanted);
    const filled = await links.refresh(entry, this.#parts, engine.store.read);
    const merged = await links.merge?.(filled, this.#parts, this.#forget);
    return merged ?? engine.add(filled, isWanted);
  }

  /** Follows a change of another tab: entries that are only in this page may refer to that entry. */
  async #followInPage(id: string): Promise<void> {
    const { storage, engine, links } = this.#parts;
    if (!links || storage.inPage().length === 0) return;
    const row = await engine.store.find(id).catch(() => undefined);
    if (row) await this.#followRow(row);
  }

  async #followRow(row: Row): Promise<void> {
    const { storage, engine, clock } = this.#parts;
    try {
      this.#announceFollowing(await engine.store.follow(row, clock.now()));
    } catch (error) {
      storage.showError(error);
    }
  }

  /** Called when an entry is stored. Another press under the same key may have stored it before. */
  async #welcome(entry: Row, isDurable: boolean): Promise<void> {
    const { id, state, attempts } = entry;
    this.#planCheck();
    if (isDurable && this.#parts.network.isOffline()) this.#context.onLeft();
    if (state === 'done' || (state === 'dead' && isDecidedElsewhere(entry)))
      await this.#redrive.resolve(id);
    else if (attempts > 0 || state !== 'pending') await this.entries.retry(id);
    this.#change();
  }

  /** Calls the app's listener. Its error surfaces as an unhandled rejection, and must not stop the delivery. */
  async #announceDelivered(delivered: Delivered): Promise<void> {
    this.#context.onDelivered(delivered);
  }

  readonly #change = (): void => {
    this.display.refresh();
    this.#parts.others.post({ kind: 'changed' });
  };

  readonly #setDue: EntryListener['onDue'] = (entry, isUrged = false) => {
    const { owner, seq } = entry;
    this.#parts.engine.worker.add(entry, isUrged);
    if (owner !== undefined && !isInPage(entry))
      this.#parts.others.post({ kind: 'due', owner, seq, isUrged });
  };

  readonly #end: EntryListener['onEnd'] = (attempt, settled) => {
    const { id } = attempt.entry;
    const { row } = settled ?? {};
    if (attempt.change.kind === 'again' && !row) this.#parts.memory.endWaiting(id, 'cancelled');
    // Another tab has it now, and announces its end; or its row is missing.
    if (!settled) void this.#redrive.resolve(id, attempt.delivered);
    else this.#announceEnd(attempt, row);
    if (settled) this.#announceFollowing(settled);
    this.#change();
  };

  #announceEnd({ entry, change, delivered, error, decision }: Attempt, row: Row | undefined): void {
    const { receipts, others } = this.#parts;
    const { id, handler } = entry;
    if (delivered) {
      receipts.resolve(id, delivered.data);
      void this.#announceDelivered({ idempotencyKey: id, handler, ...delivered });
      others.post({ kind: 'done', id, handler, ...delivered });
      if (row) this.#planSweep();
    } else if (change.kind === 'dead' && row) {
      this.#redrive.giveUp(id);
      receipts.reject(id, toDeadLetter(row, error));
      others.post({ kind: 'ended', id });
    } else if (change.kind === 'too-new') {
      others.post({ kind: 'ended', id });
    } else if (change.kind === 'again' && row) {
      const { nextRetryAt } = row;
      const setBackMs = this.#context.sender.clock.setBackMs();
      const retryAt = nextRetryAt === undefined ? undefined : nextRetryAt + setBackMs;
      receipts.report(entry, { error, decision, retryAt });
      this.#successes.recheck(originOfLane(row.lane), change.decidedAt);
    }
  }

  readonly #announceSetAside = (left: Row): void => {
    this.#announceFollowing({ row: left, next: undefined, followers: [left] });
    this.#change();
    void this.#followRow(left);
  };

  readonly #announceFollowing: EntryListener['onFollow'] = (settled) => {
    const { receipts, others } = this.#parts;
    for (const row of alsoChanged(settled))
      if (row.state === 'dead') {
        receipts.reject(row.id, toDeadLetter(row));
        others.post({ kind: 'ended', id: row.id });
      } else this.#setDue(row);
  };

  readonly #listener: EntryListener = {
    onChange: this.#change,
    onDue: this.#setDue,
    onFollow: this.#announceFollowing,
    onEnd: this.#end,
  };
}
