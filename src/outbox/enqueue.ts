import { createIdempotencyKey } from '../idempotency/key.ts';
import { askBeforeLeaving } from '../lib/browser/page.ts';
import type { Clock } from '../lib/clock.ts';
import { reject } from '../lib/input/check.ts';
import { reportFailure } from '../operation/error-info.ts';
import { isSteadfetchError } from '../operation/errors.ts';
import type { Operation } from '../operation/operation.ts';
import type { Decision } from '../policy/decide.ts';
import { failures } from '../policy/outcome.ts';
import type { Codec } from './codec.ts';
import { discarded, disposedOf, type EntryFacts } from './errors.ts';
import { type HandlerDefinition, scopeOf } from './handler.ts';
import type { RowStore } from './store/row-store.ts';
import { laneOf, type Row, rowSchema, type Unplaced, unplace, untried } from './store/row.ts';

/** What this tab does with a submission of its own. */
export interface Progress {
  readonly attempt: number;
  /** The attempt that is under way, or was last. */
  readonly operation?: Operation;
  /** When it is sent next; undefined while it is being sent. */
  readonly retryAt?: number | undefined;
  readonly decision?: Decision;
  readonly error?: unknown;
}

type OnProgress = (progress: Progress) => void;

/** What this page holds of an entry that it has submitted, until that has ended. */
export interface Receipt {
  readonly facts: EntryFacts;
  /** Its result, for as many as ask. */
  readonly promise: Promise<unknown>;
  /** Of whoever has asked last. */
  onProgress: OnProgress | undefined;
  /** As it is kept; undefined before. */
  entry: Unplaced | undefined;
  /** The database that has it, where other tabs find it. */
  savedIn: string | undefined;
  /** It is there, or in this page alone: it may have been sent. */
  isKept: boolean;
}

/** What this page has submitted and knows no end of. */
export interface Receipts {
  /** The receipt for the entry with this id: the same one for as many as ask. */
  readonly begin: (facts: EntryFacts, onProgress: OnProgress | undefined) => Receipt;
  readonly get: (id: string) => Receipt | undefined;
  readonly all: () => readonly (readonly [id: string, Receipt])[];
  /** It is kept, in this database: then the page can be left; or (without one) in this page alone. */
  readonly save: (id: string, savedIn: string | undefined) => void;
  readonly resolve: (id: string, data: unknown) => void;
  readonly reject: (id: string, error: unknown) => void;
  /** It has another id from now on. */
  readonly rename: (id: string, next: string, entry?: Row) => void;
  /** Tells whoever has submitted an entry here how it goes. */
  readonly tell: (entry: Row, progress: Omit<Progress, 'attempt'>) => void;
}

interface Waiter {
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** As long as one of them is not on the disk, the browser asks before the page is left. */
export function createReceipts(): Receipts {
  const known = new Map<string, Receipt & Waiter>();
  const unsaved = new Set<string>();
  let stay: (() => void) | undefined;
  const setSaved = (id: string, isSaved: boolean): void => {
    if (isSaved) unsaved.delete(id);
    else unsaved.add(id);
    if (unsaved.size > 0) stay ??= askBeforeLeaving();
    else {
      stay?.();
      stay = undefined;
    }
  };
  const take = (id: string): Waiter | undefined => {
    const one = known.get(id);
    known.delete(id);
    setSaved(id, true);
    return one;
  };
  return {
    begin(facts, onProgress) {
      const { id } = facts;
      let one = known.get(id);
      if (!one) {
        let end!: Pick<Waiter, 'resolve' | 'reject'>;
        const promise = new Promise<unknown>((resolve, refuse) => {
          end = { resolve, reject: refuse };
        });
        // Whoever does not look at it finds its end among the entries.
        promise.catch(() => {});
        const none = { onProgress, entry: undefined, savedIn: undefined, isKept: false };
        one = { facts, promise, ...none, ...end };
        known.set(id, one);
        setSaved(id, false);
      }
      one.onProgress = onProgress;
      return one;
    },
    get: (id) => known.get(id),
    all: () => [...known],
    save(id, savedIn) {
      const one = known.get(id);
      if (!one) return;
      one.savedIn = savedIn;
      one.isKept = true;
      setSaved(id, savedIn !== undefined);
    },
    resolve: (id, data) => take(id)?.resolve(data),
    reject: (id, error) => take(id)?.reject(error),
    rename(id, next, entry) {
      const one = known.get(id);
      if (!one) return;
      known.delete(id);
      const facts = entry ?? { ...one.facts, id: next };
      known.set(next, { ...one, facts, entry: entry && unplace(entry) });
      if (unsaved.delete(id)) unsaved.add(next);
    },
    tell: ({ id, attempts: attempt }, progress) =>
      known.get(id)?.onProgress?.({ ...progress, attempt }),
  };
}

/** What is known of a submission that somebody else keeps: a form. */
interface GivenSubmission {
  readonly key: string;
  readonly createdAt: number;
  readonly aheadMs?: number | undefined;
  readonly wasSent?: boolean | undefined;
}

/** What `submit` returns. */
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

/** Keeps what is submitted, one after the other in the order in which it was. */
export interface Enqueuer {
  readonly submit: (
    handler: string,
    variables: unknown,
    submission?: Partial<GivenSubmission>,
    onProgress?: OnProgress,
  ) => Submitted;
  /**
   * Keeps once more what was submitted here, and is not there: somebody has deleted the database. What is
   * there may have ended meanwhile: that, `settle` tells.
   */
  readonly restore: (
    engine: { readonly store: Pick<RowStore, 'find'>; readonly generation: string | undefined },
    settle: (id: string) => Promise<void>,
  ) => Promise<void>;
  /**
   * Resolves when all that was submitted before is kept, or could not be. What is submitted from here on
   * is kept after `work`, too.
   */
  readonly turn: (work?: Promise<unknown>) => Promise<unknown>;
  /** Nothing more is taken. */
  readonly close: () => void;
}

interface EnqueuerContext {
  readonly clock: Clock;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly codec: Codec;
  readonly receipts: Receipts;
  readonly add: (entry: Unplaced, isWanted: () => boolean, isMoved: boolean) => Promise<Kept>;
  readonly discard: (id: string) => Promise<unknown>;
  /** Is told of each entry that is kept, as it is there; another press may have been first. */
  readonly onKept: (entry: Row, isDurable: boolean) => Promise<void>;
}

export function createEnqueuer(context: EnqueuerContext): Enqueuer {
  const { clock, handlers, codec, receipts, add, discard, onKept } = context;
  const tab = createIdempotencyKey();
  let turn: Promise<unknown> = Promise.resolve();
  let isOver = false;

  /** @returns whether it is on the disk. */
  const keep = async (known: Receipt, entry: Unplaced, isMoved: boolean): Promise<boolean> => {
    const { id } = entry;
    const isWanted = (): boolean => receipts.get(id) === known;
    if (!isWanted()) throw discarded(entry);
    known.entry = entry;
    const { entry: added, savedIn } = await add(entry, isWanted, isMoved);
    const isDurable = savedIn !== undefined;
    if (!isWanted()) {
      // A user has discarded it meanwhile.
      await discard(id);
      throw discarded(entry);
    }
    receipts.save(id, savedIn);
    if (!isOver) await onKept(added, isDurable);
    return isDurable;
  };

  return {
    submit(name, variables, submission = {}, onProgress) {
      try {
        const operation = `outbox '${name}'`;
        if (isOver) throw disposedOf(operation);
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
        const entry = {
          id,
          schema: rowSchema,
          handler: name,
          lane: laneOf(name),
          version: definition.version,
          createdAt,
          aheadMs,
          submitter: tab,
          state: 'pending',
          nextRetryAt: nowMs,
          plannedAt: nowMs,
          ...untried,
          isInDoubt: wasSent,
          // Where it is not there any more, nobody knows what was sent of it.
          isRestored: wasSent,
          scope,
          blocks: scope,
        } as const;
        const closing = codec.encode(operation, variables);
        // It is looked at in its turn.
        closing.catch(() => {});
        const known = receipts.begin(entry, onProgress);
        const saved = turn.then(async () => {
          try {
            const sealed = { ...entry, variables: await closing };
            return { isDurable: await keep(known, sealed, false) };
          } catch (error) {
            if (!known.isKept && !isSteadfetchError(error)) noteUnkept(error);
            if (receipts.get(id) === known) receipts.reject(id, error);
            throw error;
          }
        });
        turn = saved.catch(() => {});
        return { idempotencyKey: id, saved, delivered: known.promise };
      } catch (error) {
        noteUnkept(error);
        throw error;
      }
    },
    async restore({ store, generation }, settle) {
      for (const [id, known] of receipts.all()) {
        const { entry, savedIn } = known;
        if (savedIn === undefined) continue;
        // Where the same database has it no more, it has ended. What another tab has edited, only the disk knows.
        if (savedIn === generation || !entry || (await store.find(id))) {
          await settle(id);
          continue;
        }
        const lost = { ...entry, isInDoubt: true, isRestored: true };
        try {
          await keep(known, lost, true);
        } catch (error) {
          if (isSteadfetchError(error)) receipts.reject(id, error);
        }
      }
    },
    turn(work) {
      const before = turn;
      turn = Promise.allSettled([turn, work]);
      return before;
    },
    close() {
      isOver = true;
    },
  };
}

/** It is kept nowhere, so nothing of it is sent. */
function noteUnkept(error: unknown): void {
  reportFailure(error, { failure: failures.invalid });
}
