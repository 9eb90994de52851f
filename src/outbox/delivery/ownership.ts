import { createIdempotencyKey } from '../../core/internal.ts';
import { DatabaseError } from '../store/disk.ts';
import type { RowStore } from '../store/row-store.ts';
import type { Fence, OwnerRecord } from '../store/schema.ts';
import type { OutboxPage } from './page.ts';

export interface OwnershipContext extends Pick<OutboxPage, 'clock' | 'lock' | 'name'> {
  readonly store: RowStore;
  /** The earlier tokens of this page. An owner with one of them is left over from an earlier connection. */
  readonly tokens: Set<string>;
  readonly onGain: (fence: Fence) => void;
  readonly onError: (error: unknown) => void;
}

/** How often a tab signs the owner of its entries. */
const signMs = 20_000;
/** After this many checks without a new sign, an owner counts as dead. A hidden tab signs once a minute. */
const silentLooks = 5;
/** When a page opens, an owner whose last sign is older than this counts as dead at once. */
const silentMs = silentLooks * signMs;

/** The owner of another tab, as it was read last. */
interface Other extends Pick<OwnerRecord, 'token' | 'signedAt'> {
  /** How many checks have found no new sign. */
  readonly looks: number;
  /** Withdraws the request for its lock, or releases the lock. */
  readonly stop: () => void;
}

/**
 * Decides which entries this tab sends. A tab signs its owner while that has entries. Another tab takes the entries over
 * when it gets the owner's lock, or after about 100 s without a sign, because a lock may be held by a frozen tab, never be
 * granted, or not exist. If the first tab was only asleep, its later writes are refused, because its token is no longer on
 * the disk.
 */
export class Ownership {
  readonly #context: OwnershipContext;
  readonly #held: Map<string, { readonly fence: Fence; readonly release: () => void }> = new Map();
  readonly #others: Map<string, Other> = new Map();
  #mine: Fence | undefined;
  #uses = 0;
  #timer: unknown;
  #isAway = false;
  #isOver = false;

  constructor(context: OwnershipContext) {
    this.#context = context;
  }

  /** Writes entries of this tab. Afterwards `has` says whether they still belong to it. */
  async use<T>(work: (fence: Fence) => Promise<T>): Promise<T> {
    if (this.#isOver) throw new DatabaseError('lost');
    this.#uses += 1;
    try {
      return await work(this.#own());
    } finally {
      this.#uses -= 1;
    }
  }

  held(): readonly Fence[] {
    return [...this.#held.values()].map(({ fence }) => fence);
  }

  isHeld(owner: string): boolean {
    return this.#held.has(owner);
  }

  has({ owner, token }: Fence): boolean {
    return this.#held.get(owner)?.fence.token === token;
  }

  /** Removes an owner that another tab has taken over, or that has nothing to send. */
  lose(fence: Fence): void {
    if (!this.has(fence)) return;
    this.#held.get(fence.owner)?.release();
    this.#held.delete(fence.owner);
  }

  /** Finds the owners of other tabs, to take them over when they die. Never rejects. */
  async refresh(): Promise<void> {
    await this.#refresh(false);
  }

  /** Gives up the owners that have nothing to send. @returns them. */
  async tidy(): Promise<readonly Fence[]> {
    const given: Fence[] = [];
    for (const { fence } of this.#held.values()) {
      const isMine = fence === this.#mine;
      if (isMine && this.#uses > 0) continue;
      // An entry that is added meanwhile gets another owner.
      if (isMine) this.#mine = undefined;
      if (await this.#context.store.abandon(fence)) {
        this.lose(fence);
        given.push(fence);
      } else if (isMine) this.#mine ??= fence;
    }
    return given;
  }

  /** @returns the writes that tell other tabs. */
  release(): Promise<unknown> {
    for (const { stop } of this.#others.values()) stop();
    this.#others.clear();
    const given = [...this.#held.values()].map(({ fence, release }) => {
      const signed = this.#giveUp(fence);
      release();
      return signed;
    });
    this.#held.clear();
    this.#mine = undefined;
    return Promise.all(given);
  }

  /** Called when the page is put away: gives all owners up, and takes none until it is back. */
  leave(): Promise<unknown> {
    this.#isAway = true;
    this.#context.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
    return this.release();
  }

  comeBack(): Promise<void> {
    this.#isAway = false;
    return this.refresh();
  }

  dispose(): Promise<unknown> {
    this.#isOver = true;
    return this.leave();
  }

  /** Gives an owner up, so that the next page can take it at once. Never rejects. */
  #giveUp(fence: Fence): Promise<unknown> {
    return this.#context.store.sign(fence, 0).catch(() => {});
  }

  #lock(owner: string, granted: () => void): () => void {
    const { lock, name } = this.#context;
    return lock?.(`steadfetch outbox ${name} ${owner}`, granted) ?? (() => {});
  }

  #newFence(owner: string): Fence {
    const token = createIdempotencyKey();
    this.#context.tokens.add(token);
    return { owner, token };
  }

  #own(): Fence {
    if (this.#mine && this.has(this.#mine)) return this.#mine;
    const fence = this.#newFence(createIdempotencyKey());
    // A page that is put away holds no owner. The next tab that checks takes it over.
    if (this.#isAway) return fence;
    this.#mine = fence;
    // No other tab knows its name yet, so its lock is free.
    this.#held.set(fence.owner, { fence, release: this.#lock(fence.owner, () => {}) });
    this.#plan();
    return fence;
  }

  async #refresh(isTimed: boolean): Promise<void> {
    if (this.#isOver || this.#isAway) return;
    try {
      const records = await this.#context.store.owners();
      this.#forgetMissing(records);
      for (const record of records) {
        if (this.#isOver || this.#isAway) return;
        if (this.#held.has(record.owner)) continue;
        if (this.#isSilent(record, isTimed)) await this.#take(record.owner);
      }
    } catch (error) {
      this.#fail(error);
    }
    if (this.#held.size + this.#others.size > 0) this.#plan();
  }

  #forgetMissing(records: readonly OwnerRecord[]): void {
    const owners = new Set(records.map(({ owner }) => owner));
    for (const [owner, { stop }] of this.#others) {
      if (owners.has(owner)) continue;
      this.#others.delete(owner);
      stop();
    }
  }

  /**
   * Whether an owner has not signed for too long. Checks are counted, because clocks are set and devices sleep. Only a page
   * that has just opened must use the wall clock.
   */
  #isSilent({ owner, token, signedAt }: OwnerRecord, isTimed: boolean): boolean {
    const { clock, tokens } = this.#context;
    const known = this.#others.get(owner);
    const isSame = known?.token === token && known.signedAt === signedAt;
    const before = isSame ? known.looks : 0;
    const looks = isSame && isTimed ? before + 1 : before;
    let stop = known?.stop;
    if (!stop || known?.token !== token) {
      stop?.();
      // After the tabs that waited before.
      stop = this.#lock(owner, () => void this.#take(owner, token));
    }
    this.#others.set(owner, { token, signedAt, looks, stop });
    const isLongAgo = !known && clock.now() - signedAt > silentMs;
    return signedAt === 0 || tokens.has(token) || isLongAgo || looks >= silentLooks;
  }

  /** Takes an owner over, unless its token has changed, or it was taken or given up meanwhile. */
  async #take(owner: string, token = this.#others.get(owner)?.token): Promise<void> {
    const { clock, store, onGain } = this.#context;
    const other = this.#others.get(owner);
    if (!other || other.token !== token) return;
    const fence = this.#newFence(owner);
    let isTaken: boolean | undefined;
    try {
      isTaken = await store.adopt(fence, token, clock.now());
    } catch (error) {
      this.#fail(error);
    }
    if (this.#others.get(owner)?.stop !== other.stop) {
      if (isTaken) void this.#giveUp(fence);
      return;
    }
    this.#others.delete(owner);
    if (isTaken) {
      this.#held.set(owner, { fence, release: other.stop });
      this.#plan();
      return onGain(fence);
    }
    other.stop();
    // Another tab was first. Its lock is the one to wait for now.
    if (isTaken === false) await this.refresh();
  }

  #fail(error: unknown): void {
    this.#plan();
    this.#context.onError(error);
  }

  /** Plans the next sign and check for silent owners. If the store fails, they are tried again. */
  #plan(): void {
    const { clock } = this.#context;
    if (this.#timer !== undefined || this.#isOver || this.#isAway) return;
    this.#timer = clock.setTimeout(() => {
      this.#timer = undefined;
      void this.#sign();
    }, signMs);
  }

  async #sign(): Promise<void> {
    const { clock, store } = this.#context;
    try {
      for (const { fence } of this.#held.values())
        if (!(await store.sign(fence, clock.now()))) this.lose(fence);
    } catch (error) {
      this.#fail(error);
    }
    await this.#refresh(true);
  }
}
