import {
  createIdempotencyKey,
  failures,
  isSteadfetchError,
  reportFailure,
  type Decision,
  type Operation,
} from '../core/internal.ts';
import { promptBeforeUnload } from '../core/lib/browser/page.ts';
import type { Clock } from '../core/lib/clock.ts';
import { reject } from '../core/lib/input/check.ts';
import type { Codec } from './codec.ts';
import { discarded, disposedOf, type EntryFacts } from './errors.ts';
import { type HandlerDefinition, scopeOf } from './handler.ts';
import { keysIn } from './links/answer-of.ts';
import type { EntryLinks } from './links/entry-links.ts';
import { laneOf, type Row, type Unplaced, unplace, untried } from './store/row.ts';
import type { RowStore } from './store/row-store.ts';

/** The state of a submission of this tab. */
export interface Progress {
  readonly attempt: number;
  /** The attempt that is under way, or was last. */
  readonly operation?: Operation;
  /** When it is sent next; undefined while it is being sent. */
  readonly retryAt?: number | undefined;
  readonly decision?: Decision | undefined;
  readonly error?: unknown;
}

type OnProgress = (progress: Progress) => void;

/** The part of an entry that the page which submitted it holds until its end. */
export interface Receipt {
  readonly facts: EntryFacts;
  /** Its result, for as many as ask. */
  readonly promise: Promise<unknown>;
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Of the caller that has asked last. */
  readonly onProgress?: OnProgress | undefined;
  /** As it is kept; undefined before. */
  readonly entry?: Unplaced | undefined;
  /** The database that has it, where other tabs find it. */
  readonly savedIn?: string | undefined;
  /** It is there, or in this page alone: it may have been sent. */
  readonly isKept?: boolean;
}

function createReceipt(facts: EntryFacts): Receipt {
  let end!: Pick<Receipt, 'resolve' | 'reject'>;
  const promise = new Promise<unknown>((resolve, refuse) => (end = { resolve, reject: refuse }));
  // A caller that does not look at it finds its end among the entries.
  promise.catch(() => {});
  return { facts, promise, ...end };
}

/**
 * The submissions of this page whose end is not known. As long as one of them is not on the disk, the browser asks
 * before the page is left.
 */
export class Receipts {
  readonly #known: Map<string, Receipt> = new Map();
  readonly #unsaved: Set<string> = new Set();
  #stay: (() => void) | undefined;

  /** The receipt for the entry with this id: the same one for as many as ask. */
  begin(facts: EntryFacts, onProgress: OnProgress | undefined): Receipt {
    const { id } = facts;
    const known = this.#known.get(id);
    const receipt = { ...(known ?? createReceipt(facts)), onProgress };
    this.#known.set(id, receipt);
    if (!known) this.#setSaved(id, false);
    return receipt;
  }

  get(id: string): Receipt | undefined {
    return this.#known.get(id);
  }

  all(): readonly (readonly [id: string, Receipt])[] {
    return [...this.#known];
  }

  /** Whether its submitter still waits for the entry with this id. */
  isOpen(id: string, { promise }: Receipt): boolean {
    return this.#known.get(id)?.promise === promise;
  }

  /** It is about to be kept so. */
  keep(id: string, entry: Unplaced): void {
    this.#update(id, { entry });
  }

  /** It is kept, in this database: then the page can be left; or (without one) in this page alone. */
  save(id: string, savedIn: string | undefined): void {
    if (this.#update(id, { savedIn, isKept: true })) this.#setSaved(id, savedIn !== undefined);
  }

  resolve(id: string, data: unknown): void {
    this.#take(id)?.resolve(data);
  }

  reject(id: string, error: unknown): void {
    this.#take(id)?.reject(error);
  }

  /** It has another id from now on; or it is one now with another entry, and ends as that does. */
  rename(id: string, next: string, entry?: Row): void {
    const known = this.#known.get(id);
    const other = this.#known.get(next);
    this.#known.delete(id);
    if (known && other) void other.promise.then(known.resolve, known.reject);
    const going = other ?? known;
    if (!going) return;
    const renamed = entry
      ? { facts: entry, entry: unplace(entry) }
      : { facts: { ...going.facts, id: next }, entry: undefined };
    this.#known.set(next, { ...going, ...renamed });
    if (this.#unsaved.delete(id)) this.#unsaved.add(next);
  }

  /** Reports the progress of an entry to its submitter. */
  report({ id, attempts: attempt }: Row, progress: Omit<Progress, 'attempt'>): void {
    this.#known.get(id)?.onProgress?.({ ...progress, attempt });
  }

  #update(id: string, part: Partial<Receipt>): boolean {
    const known = this.#known.get(id);
    if (known) this.#known.set(id, { ...known, ...part });
    return !!known;
  }

  #take(id: string): Receipt | undefined {
    const known = this.#known.get(id);
    this.#known.delete(id);
    this.#setSaved(id, true);
    return known;
  }

  #setSaved(id: string, isSaved: boolean): void {
    if (isSaved) this.#unsaved.delete(id);
    else this.#unsaved.add(id);
    if (this.#unsaved.size > 0) this.#stay ??= promptBeforeUnload();
    else {
      this.#stay?.();
      this.#stay = undefined;
    }
  }
}

/** A submission that a form keeps. */
interface GivenSubmission {
  readonly key: string;
  readonly createdAt: number;
  readonly aheadMs?: number | undefined;
  readonly wasSent?: boolean | undefined;
}

/** The result of `submit`. */
interface Submitted {
  readonly idempotencyKey: string;
  /** Resolves once it is kept; `isDurable` says whether on the disk. */
  readonly saved: Promise<{ readonly isDurable: boolean }>;
  /** Resolves with its result, whichever tab has delivered it. */
  readonly delivered: Promise<unknown>;
}

/** An entry as it is kept. */
export interface Kept {
  readonly entry: Row;
  /** The database that has it; undefined where it is in this page alone. */
  readonly savedIn: string | undefined;
}

/** The parts that submissions are made of. */
interface EnqueuerContext {
  readonly clock: Clock;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly codec: Codec;
  readonly receipts: Receipts;
  readonly links: EntryLinks | undefined;
}

/** Where submissions are kept. */
interface Keeper {
  /** The entry with the answers that it refers to, as far as they are known. */
  readonly refresh: (entry: Unplaced) => Promise<Unplaced>;
  readonly add: (entry: Unplaced, isWanted: () => boolean, isMoved: boolean) => Promise<Kept>;
  readonly discard: (id: string) => Promise<unknown>;
  /** Is told of each entry that is kept, as it is there; another press may have been first. */
  readonly onKept: (entry: Row, isDurable: boolean) => Promise<void>;
}

/** Keeps what is submitted, one after the other in the order in which it was. */
export class Enqueuer {
  readonly #context: EnqueuerContext;
  readonly #keeper: Keeper;
  readonly #tab: string = createIdempotencyKey();
  #turn: Promise<unknown> = Promise.resolve();
  #isOver = false;

  constructor(context: EnqueuerContext, keeper: Keeper) {
    this.#context = context;
    this.#keeper = keeper;
  }

  submit(
    name: string,
    variables: unknown,
    submission: Partial<GivenSubmission> = {},
    onProgress?: OnProgress,
  ): Submitted {
    try {
      return this.#submit(name, variables, submission, onProgress);
    } catch (error) {
      recordUnkept(error);
      throw error;
    }
  }

  /**
   * Keeps once more what was submitted here, and is not there, because its database was deleted. What is
   * there may have ended meanwhile: `resolve` ends its receipt.
   */
  async restore(
    store: RowStore,
    generation: string,
    resolve: (id: string) => Promise<void>,
  ): Promise<void> {
    const { receipts } = this.#context;
    for (const [id, known] of receipts.all()) {
      const { entry, savedIn } = known;
      if (savedIn === undefined) continue;
      // Where the same database has it no more, it has ended. What another tab has edited, only the disk knows.
      if (savedIn === generation || !entry || (await store.find(id))) {
        await resolve(id);
        continue;
      }
      const lost = { ...entry, isInDoubt: true, isRestored: true };
      try {
        await this.#keep(known, lost, true);
      } catch (error) {
        if (isSteadfetchError(error)) receipts.reject(id, error);
      }
    }
  }

  /**
   * Resolves when all that was submitted before is kept, or could not be. What is submitted from here on
   * is kept after `work`, too.
   */
  turn(work?: Promise<unknown>): Promise<unknown> {
    const before = this.#turn;
    this.#turn = Promise.allSettled([before, work]);
    return before;
  }

  /** Nothing more is taken. */
  close(): void {
    this.#isOver = true;
  }

  #submit(
    name: string,
    variables: unknown,
    submission: Partial<GivenSubmission>,
    onProgress: OnProgress | undefined,
  ): Submitted {
    const { clock, handlers, codec, receipts, links } = this.#context;
    const operation = `outbox '${name}'`;
    if (this.#isOver) throw disposedOf(operation);
    const definition =
      handlers.get(name) ??
      reject(
        'outbox',
        'handler',
        name,
        process.env.NODE_ENV !== 'production' && `one of ${[...handlers.keys()].join(', ')}`,
      );
    const nowMs = clock.now();
    const { key: id = createIdempotencyKey(), createdAt = nowMs, aheadMs } = submission;
    const { wasSent = false } = submission;
    const scope = scopeOf(operation, definition, variables);
    if (process.env.NODE_ENV !== 'production' && !links) refuseReferences(operation, variables);
    const entry = {
      ...untried,
      id,
      handler: name,
      lane: laneOf(name),
      version: definition.version,
      createdAt,
      aheadMs,
      submitter: this.#tab,
      state: 'pending',
      isInDoubt: wasSent,
      // Where it is gone, it is unknown how much of it was sent.
      isRestored: wasSent,
      scope,
      blocks: scope,
      ...links?.begin(definition, variables),
    } as const;
    const closing = codec.encode(operation, variables);
    // It is looked at in its turn.
    closing.catch(() => {});
    const known = receipts.begin(entry, onProgress);
    const saved = this.#turn.then(async () => {
      try {
        const whole = await this.#keeper.refresh({ ...entry, variables: await closing });
        const isDurable = await this.#keep(known, whole, false);
        return { isDurable };
      } catch (error) {
        if (!receipts.get(id)?.isKept && !isSteadfetchError(error)) recordUnkept(error);
        if (receipts.isOpen(id, known)) receipts.reject(id, error);
        throw error;
      }
    });
    this.#turn = saved.catch(() => {});
    return { idempotencyKey: id, saved, delivered: known.promise };
  }

  /** @returns whether it is on the disk. */
  async #keep(known: Receipt, entry: Unplaced, isMoved: boolean): Promise<boolean> {
    const { receipts } = this.#context;
    const { add, discard, onKept } = this.#keeper;
    const { id } = entry;
    const isWanted = (): boolean => receipts.isOpen(id, known);
    if (!isWanted()) throw discarded(entry);
    receipts.keep(id, entry);
    const { entry: added, savedIn } = await add(entry, isWanted, isMoved);
    const isDurable = savedIn !== undefined;
    if (!isWanted()) {
      // A user has discarded it meanwhile.
      await discard(id);
      throw discarded(entry);
    }
    receipts.save(id, savedIn);
    if (!this.#isOver) await onKept(added, isDurable);
    return isDurable;
  }
}

/** It is kept nowhere, so nothing of it is sent. */
function recordUnkept(error: unknown): void {
  reportFailure(error, { failure: failures.invalid });
}

/** @throws TypeError where variables refer to an answer, which without links is not put in. */
function refuseReferences(operation: string, variables: unknown): void {
  if (keysIn(variables).length > 0)
    reject(
      operation,
      'variables',
      'answerOf',
      'without answerOf, unless createOutbox has links: outboxLinks()',
    );
}
