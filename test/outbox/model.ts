import { deepEqual, equal, fail, notEqual, ok } from 'node:assert/strict';
import { openIndexedDb } from '../../src/outbox/store/disk.ts';
import { RowStore } from '../../src/outbox/store/row-store.ts';
import type { Row } from '../../src/outbox/store/row.ts';
import type { Database } from '../../src/outbox/store/schema.ts';
import {
  api,
  type Arrival,
  createBrowser,
  longestStepMs,
  type Fault,
  settle,
  type TestBrowser,
} from './rig.ts';
import type { SteadfetchError } from 'steadfetch';
import type { OutboxContext } from 'steadfetch/outbox';

/** What a user has submitted. */
interface Order {
  readonly n: number;
  readonly scope?: string | undefined;
  /** Counted up by each edit. */
  readonly version: number;
}

/** All that is known of one submission. */
interface Entry {
  order: Order;
  key: string;
  /** `lost`: it was in a page alone that has gone, or goes with a clear as soon as the disk works. */
  state: 'unsaved' | 'durable' | 'volatile' | 'discarded' | 'lost';
  /** The page that it is in, where it is in no other. */
  readonly tab: Tab;
  /** What has become of it, as the submitter was told. */
  told: 'nothing' | 'delivered' | 'dead' | 'discarded' | 'other';
}

type Tab = ReturnType<World['open']>;
export type Handlers = 'all' | 'no-notes';
/** How the server, or the way to it, treats a request. */
export type Fate = 'done' | 'done-then-cut' | 'done-then-503' | 'cut' | '503' | '422';

/**
 * A browser with its tabs, a server that books each key once, and what must be true of both at every
 * moment at which nothing is under way.
 */
export class World {
  readonly browser: TestBrowser;
  readonly entries: Entry[] = [];
  readonly tabs: { outbox: Tab['outbox']; tab: Tab; state: 'awake' | 'frozen' | 'gone' }[] = [];
  /** Requests that nobody has answered. */
  #open: Arrival[] = [];
  readonly #hasLocks: boolean;
  /** Which order a key was first seen with, and whether it was booked. */
  readonly #keys = new Map<
    string,
    { readonly body: string; isBooked: boolean; isRefused: boolean }
  >();
  /** The orders in which there were effects, as they came. */
  readonly #effects: { readonly n: number; readonly scope: string | undefined }[] = [];
  /** What somebody was told that is not so. */
  readonly #lies: string[] = [];
  #isHealthy = false;
  /**
   * A clear has failed, and told the app that nothing may be submitted before another one resolves: it is done as
   * soon as the disk works, and takes along what is there by then.
   */
  #isUncleared = false;
  /** How far the clock was set forward, all in all, and at most. */
  #aheadMs = 0;
  #mostAheadMs = 0;
  #wereNotesMissing = false;
  #database: Database | undefined;
  #store: RowStore | undefined;

  constructor(hasLocks: boolean, seed: number) {
    this.#hasLocks = hasLocks;
    this.browser = createBrowser({ seed });
    this.browser.server.rule = (arrival) => this.#arrive(arrival);
  }

  open(handlers: Handlers) {
    const send = (order: Order, { json }: OutboxContext) =>
      json<{ n: number }>(`${api}/orders`, { method: 'POST', json: order });
    const scope = (order: Order): string | undefined => order.scope;
    const order = { mutationFn: send, scope };
    // Notes are in the scopes of the orders, so that one that cannot be sent holds them up.
    const all = { order, note: { mutationFn: send, scope } };
    const given = (handlers === 'all' ? all : { order }) as typeof all;
    if (handlers !== 'all') this.#wereNotesMissing = true;
    const tab = this.browser.openTab({ handlers: given, hasLocks: this.#hasLocks });
    this.tabs.push({ outbox: tab.outbox, tab, state: 'awake' });
    return tab;
  }

  awake(index: number): { readonly outbox: Tab['outbox']; readonly tab: Tab } | undefined {
    return pick(
      this.tabs.filter(({ state }) => state === 'awake'),
      index,
    );
  }

  submit(index: number, scope: string | undefined, isNote: boolean): void {
    const page = this.awake(index);
    if (!page) return;
    const n = this.entries.length;
    const order: Order = { n, scope, version: 0 };
    const handler = isNote && 'note' in page.outbox ? 'note' : 'order';
    const { idempotencyKey: key, saved, delivered } = page.outbox.submit(handler, order);
    const state = this.#isUncleared ? 'lost' : 'unsaved';
    const entry: Entry = { order, key, state, tab: page.tab, told: 'nothing' };
    this.entries.push(entry);
    void this.#watchSaved(entry, saved);
    void this.#watchEnd(entry, delivered);
  }

  async #watchSaved(entry: Entry, saved: Promise<{ isDurable: boolean }>): Promise<void> {
    try {
      const { isDurable } = await saved;
      if (entry.state === 'unsaved') entry.state = isDurable ? 'durable' : 'volatile';
    } catch {
      if (entry.state === 'unsaved') entry.state = 'discarded';
    }
  }

  async #watchEnd(entry: Entry, delivered: Promise<{ n: number }>): Promise<void> {
    const { n } = entry.order;
    try {
      const data = await delivered;
      entry.told = 'delivered';
      if (data.n !== n || !this.#isBooked(entry))
        this.#lies.push(`submission ${n} was told of ${JSON.stringify(data)}`);
    } catch (error) {
      const { name, message, outcome } = error as SteadfetchError;
      entry.told = name === 'DeadLetterError' ? 'dead' : 'other';
      if (outcome?.processed === 'no' && this.#isBooked(entry))
        this.#lies.push(`submission ${n} was told that it was not done, and it was: ${message}`);
    }
  }

  #arrive(arrival: Arrival): void {
    const { key, body } = arrival;
    ok(key, `a request without a key: ${body}`);
    if (key === null) return;
    const known = this.#keys.get(key) ?? { body, isBooked: false, isRefused: false };
    equal(body, known.body, `one key has one payload: ${key}`);
    this.#keys.set(key, known);
    this.#open.push(arrival);
    if (this.#isHealthy) this.answer(this.#open.length - 1, 'done');
  }

  answer(index: number, fate: Fate): void {
    this.#open = this.#open.filter((one) => !one.isAborted());
    const arrival = pick(this.#open, index);
    if (!arrival) return;
    this.#open.splice(this.#open.indexOf(arrival), 1);
    const { n, scope } = JSON.parse(arrival.body) as Order;
    const known = this.#keys.get(arrival.key ?? '');
    if (!known) return;
    const isDone = fate.startsWith('done');
    if (isDone && !known.isBooked) {
      known.isBooked = true;
      this.#effects.push({ n, scope });
    }
    if (fate === 'cut' || fate === 'done-then-cut') arrival.cut();
    else if (fate === '503' || fate === 'done-then-503') arrival.answer(503);
    else if (fate === '422' && !known.isBooked) {
      known.isRefused = true;
      arrival.answer(422);
    } else arrival.answer(201, { n });
  }

  crash(index: number): void {
    const page = this.tabs.filter(({ state }) => state !== 'gone');
    const one = pick(page, index);
    if (!one) return;
    one.state = 'gone';
    one.tab.crash();
    for (const entry of this.entries)
      if (entry.tab === one.tab && (entry.state === 'volatile' || entry.state === 'unsaved'))
        entry.state = 'lost';
  }

  freeze(index: number): void {
    const one = pick(
      this.tabs.filter(({ state }) => state === 'awake'),
      index,
    );
    if (!one) return;
    one.state = 'frozen';
    one.tab.freeze();
  }

  thaw(index: number): void {
    const one = pick(
      this.tabs.filter(({ state }) => state === 'frozen'),
      index,
    );
    if (!one) return;
    one.state = 'awake';
    one.tab.thaw();
  }

  fail(index: number, fault: Fault): void {
    this.awake(index)?.tab.fail(fault);
  }

  /** What a user does with an entry, from some tab that works. */
  async decide(index: number, what: 'retry' | 'edit' | 'discard', which: number): Promise<void> {
    const page = this.awake(index);
    const entry = pick(this.entries, which);
    if (!page || !entry) return;
    const { outbox } = page;
    const order = { ...entry.order, version: entry.order.version + 1 };
    const act = async (): Promise<void> => {
      if (what === 'discard') {
        if (await outbox.discard(entry.key)) entry.state = 'discarded';
        return;
      }
      const key =
        what === 'retry' ? await outbox.retry(entry.key) : await outbox.edit(entry.key, order);
      if (key === undefined) return;
      entry.key = key;
      if (what === 'edit') entry.order = order;
    };
    // Where the database does not work, neither does this.
    const acting = act().catch(() => {});
    await settle();
    await settle();
    await acting;
  }

  async clear(index: number): Promise<void> {
    const page = this.awake(index);
    if (!page) return;
    const before = [...this.entries];
    let after = 'discarded' as Entry['state'];
    const clearing = page.outbox.clear().catch(() => {
      // It goes when the disk works, and is not sent before.
      after = 'lost';
    });
    await settle();
    await clearing;
    this.#isUncleared = after === 'lost';
    // What is in a page alone that sleeps is not reached.
    const sleeping = new Set(
      this.tabs.filter(({ state }) => state === 'frozen').map(({ tab }) => tab),
    );
    for (const entry of before)
      if (entry.state !== 'volatile' || !sleeping.has(entry.tab)) entry.state = after;
  }

  setClock(ms: number): void {
    this.#aheadMs += ms;
    this.#mostAheadMs = Math.max(this.#mostAheadMs, this.#aheadMs);
    this.browser.clock.jump(ms);
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= longestStepMs) {
      this.browser.clock.advance(Math.min(left, longestStepMs));
      await settle();
    }
  }

  async rows(): Promise<readonly Row[]> {
    this.#database ??= await openIndexedDb(this.browser.name, this.browser.clock);
    this.#store ??= new RowStore(this.#database);
    return this.#store.list(undefined, 0, 1_000_000);
  }

  close(): void {
    for (const { tab, state } of this.tabs) if (state !== 'gone') tab.crash();
    this.#database?.close();
  }

  /** Nobody who lives waits for what has ended. */
  async #checkTold(): Promise<void> {
    const rows = await this.rows();
    const waiting = new Set(rows.map(({ variables }) => (variables as Order).n));
    const living = new Set(this.tabs.filter(({ state }) => state !== 'gone').map(({ tab }) => tab));
    for (const { order, told, tab, state } of this.entries) {
      if (!living.has(tab) || waiting.has(order.n)) continue;
      notEqual(state, 'unsaved', `submission ${order.n} is kept`);
      // One in this page alone may wait behind a dead one.
      if (state !== 'volatile') notEqual(told, 'nothing', `submission ${order.n} was told`);
    }
  }

  /** As it is now: an edited one is another. */
  #keysOf({ order }: Entry): { readonly isBooked: boolean; readonly isRefused: boolean }[] {
    const body = JSON.stringify(order);
    return [...this.#keys.values()].filter((known) => known.body === body);
  }

  #isBooked = (entry: Entry): boolean => this.#keysOf(entry).some(({ isBooked }) => isBooked);

  /** What is true at every moment at which nothing is under way. */
  async check(): Promise<void> {
    const rows = await this.rows();
    const owners = new Set((await this.#store?.owners())?.map(({ owner }) => owner));
    const byNumber = new Map(rows.map((row) => [(row.variables as Order).n, row]));
    equal(byNumber.size, rows.length, 'one row for each submission');
    for (const entry of this.entries) {
      const { state, order } = entry;
      const row = byNumber.get(order.n);
      const what = `submission ${order.n}`;
      if (state === 'discarded') equal(row, undefined, `${what} was discarded`);
      if (state !== 'durable') continue;
      if (!row) ok(this.#isBooked(entry), `${what} is gone, so it was done`);
      else if (row.state === 'done') ok(this.#isBooked(entry), `${what} is done`);
      else if (row.state === 'dead') this.#checkDead(entry, row);
      else {
        ok(owners.has(row.owner ?? ''), `${what} has an owner that is known`);
      }
      if (row) deepEqual(row.variables, order, `${what} is what was submitted`);
    }
    deepEqual(this.#lies, []);
    this.#checkKeys();
    this.#checkScopes(rows);
  }

  #checkDead(entry: Entry, { deadReason, isInDoubt, handler }: Row): void {
    const what = `submission ${entry.order.n}`;
    const isRefused = deadReason === 'refused' || deadReason === 'cannot-find-out';
    if (isRefused) ok(this.#keysOf(entry).at(-1)?.isRefused, `${what} was refused`);
    // Sent again by a user, and refused once more: whether the first time did it is not found out.
    if (deadReason === 'cannot-find-out') ok(isInDoubt, `${what} may have been done`);
    if (!isRefused) {
      equal(deadReason, 'handler-missing', `why ${what} is dead`);
      ok(handler === 'note' && this.#wereNotesMissing, `${what} has no handler`);
    }
    if (this.#isBooked(entry)) ok(isInDoubt, `${what} may have been done`);
  }

  /** Whatever was refused was not done under another key, too. */
  #checkKeys(): void {
    for (const entry of this.entries) {
      const booked = this.#keysOf(entry).filter(({ isBooked }) => isBooked);
      ok(booked.length < 2, `submission ${entry.order.n} takes effect once`);
    }
  }

  #checkScopes(rows: readonly Row[]): void {
    for (const scope of ['a', 'b']) {
      const live = rows.filter((row) => row.blocks === scope);
      const [head, ...behind] = live;
      const sending = live.filter(({ state }) => state === 'sending');
      ok(sending.length < 2, `of scope ${scope}, one at a time is sent`);
      if (head)
        ok(!behind.some(({ state }) => state === 'sending'), `the head of scope ${scope} is sent`);
      const volatile = new Set(
        this.entries.filter(({ state }) => state !== 'durable').map(({ order }) => order.n),
      );
      const done = this.#effects.filter((one) => one.scope === scope && !volatile.has(one.n));
      const first = [...new Set(done.map(({ n }) => n))];
      deepEqual(
        first,
        first.toSorted((a, b) => a - b),
      );
    }
  }

  /**
   * The server is well, and one tab lives: in the end all is delivered, or waits for a user, who
   * retries it. @returns what is left on the disk.
   */
  async end(): Promise<readonly Row[]> {
    while (this.tabs.some(({ state }) => state === 'frozen')) this.thaw(0);
    for (const { tab } of this.tabs) tab.fail('none');
    this.#isHealthy = true;
    while (this.#open.length > 0) this.answer(0, 'done');
    await this.pass(700_000);
    await this.check();
    await this.#checkTold();
    while (this.tabs.some(({ state }) => state !== 'gone')) this.crash(0);
    const { outbox } = this.open('all');
    await this.pass(700_000);
    await this.check();
    for (const row of await this.rows()) {
      const head = (await this.rows()).find(({ blocks }) => blocks === row.scope);
      const isBlocked = row.state === 'pending' && head?.state === 'dead';
      if (row.state !== 'dead' && row.state !== 'done' && !isBlocked)
        fail(`delivered, or dead, or behind a dead one: ${JSON.stringify(row)}`);
    }
    await outbox.retryAll();
    // A result is kept for ten minutes by the clock of the wall, and what is old is looked for every ten minutes.
    this.setClock(this.#mostAheadMs - this.#aheadMs);
    await this.pass(1_300_000);
    await this.check();
    deepEqual(await this.#store?.owners(), [], 'nobody owns anything');
    equal(this.tabs.at(-1)?.tab.locks(), 0, 'and no lock is held');
    return this.rows();
  }
}

function pick<T>(from: readonly T[], index: number): T | undefined {
  return from[index % Math.max(1, from.length)];
}
