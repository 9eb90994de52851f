import { askBeforeLeaving } from '../lib/page.ts';
import type { Operation } from '../operation/operation.ts';
import type { Decision } from '../policy/decide.ts';
import type { Codec } from './codec.ts';
import type { Engine } from './engine.ts';
import { toDeadLetter } from './entries.ts';
import { type EntryFacts, gone } from './errors.ts';
import type { HandlerDefinition } from './handler.ts';
import type { Pauses } from './messages.ts';
import type { RowStorage } from './storage.ts';
import { pagesOf } from './store/row-store.ts';
import { type DeadReason, type Row, rowSchema, type Unplaced } from './store/schema.ts';

/** What this page holds of an entry that it has submitted, until that has ended. */
export interface Receipt {
  readonly facts: EntryFacts;
  /** Its result, for as many as ask. */
  readonly promise: Promise<unknown>;
  /** Of whoever has asked last. */
  onProgress: OnProgress | undefined;
  /** As it is kept; undefined before. */
  row: Unplaced | undefined;
  /** It is on the disk, where other tabs find it. */
  isSaved: boolean;
  /** It is there, or in this page alone: it may have been sent. */
  isKept: boolean;
}

/** What this page has submitted and knows no end of. */
export interface Receipts {
  /** The receipt for the entry with this id: the same one for as many as ask. */
  readonly begin: (facts: EntryFacts, onProgress: Receipt['onProgress']) => Receipt;
  readonly get: (id: string) => Receipt | undefined;
  readonly all: () => readonly (readonly [id: string, Receipt])[];
  /** Whether it is on the disk: then the page can be left. */
  readonly save: (id: string, isSaved: boolean) => void;
  readonly resolve: (id: string, data: unknown) => void;
  readonly reject: (id: string, error: unknown) => void;
  /** It has another id from now on. */
  readonly rename: (id: string, next: string, row?: Row) => void;
}

interface Waiter extends Pick<Receipt, 'promise'> {
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** As long as one of them is not on the disk, the browser asks before the page is left. */
export function createReceipts(): Receipts {
  const known = new Map<string, Receipt & Waiter>();
  const unsaved = new Set<string>();
  let stay: (() => void) | undefined;
  const guard = (): void => {
    if (unsaved.size > 0) stay ??= askBeforeLeaving();
    else {
      stay?.();
      stay = undefined;
    }
  };
  const take = (id: string): Waiter | undefined => {
    const one = known.get(id);
    known.delete(id);
    unsaved.delete(id);
    guard();
    return one;
  };
  return {
    begin(facts, onProgress) {
      const { id } = facts;
      let one = known.get(id);
      if (!one) {
        one = {
          facts,
          onProgress,
          row: undefined,
          isSaved: false,
          isKept: false,
          ...createWaiter(),
        };
        known.set(id, one);
        unsaved.add(id);
        guard();
      }
      one.onProgress = onProgress;
      return one;
    },
    get: (id) => known.get(id),
    all: () => [...known],
    save(id, isSaved) {
      const one = known.get(id);
      if (!one) return;
      one.isSaved = isSaved;
      one.isKept = true;
      if (isSaved) unsaved.delete(id);
      else unsaved.add(id);
      guard();
    },
    resolve: (id, data) => take(id)?.resolve(data),
    reject: (id, error) => take(id)?.reject(error),
    rename(id, next, row) {
      const one = known.get(id);
      known.delete(id);
      const facts = row ?? { ...one?.facts, id: next };
      if (one) known.set(next, { ...one, facts: facts as EntryFacts, row: row && unplace(row) });
      if (unsaved.delete(id)) unsaved.add(next);
    },
  };
}

function unplace(row: Row): Unplaced {
  const { seq: _, owner: __, liveOwner: ___, ...unplaced } = row;
  return unplaced;
}

function createWaiter(): Waiter {
  let resolve!: Waiter['resolve'];
  let reject!: Waiter['reject'];
  const promise = new Promise<unknown>((resolveIt, rejectIt) => {
    resolve = resolveIt;
    reject = rejectIt;
  });
  // Whoever does not look at it finds its end among the entries.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

/** What this tab does with a submission of its own. */
export interface Progress {
  readonly attempt: number;
  /** The attempt that is under way, or was last. */
  readonly live: Operation | undefined;
  /** When it is sent next; undefined while it is being sent. */
  readonly retryAt: number | undefined;
  readonly decision: Decision | undefined;
  readonly error: unknown;
}

/** Whoever has submitted a row here, and is told how it goes. */
interface Listeners {
  readonly get: (id: string) => { readonly onProgress: OnProgress | undefined } | undefined;
}

export type OnProgress = (progress: Progress) => void;

/** Tells how it goes with a row. */
export function tellProgress(
  listeners: Listeners,
  { id, attempts: attempt }: Row,
  progress: Omit<Progress, 'attempt'>,
): void {
  listeners.get(id)?.onProgress?.({ ...progress, attempt });
}

/** Tells how it goes with an attempt, from its beginning to its end. */
export function followAttempt(
  listeners: Listeners,
  pauses: Pick<Pauses, 'note'>,
  row: Row,
  live: Operation,
  onChange: () => void,
): void {
  live.onChange = () => {
    const none = { retryAt: undefined, decision: undefined, error: undefined };
    if (live.phase !== 'ended') tellProgress(listeners, row, { live, ...none });
    pauses.note(row, live);
    onChange();
  };
  live.onChange();
}

/**
 * Settles a submission by what the disk says of it, where another tab may have ended it; `delivered`
 * is what that tab has said. Never rejects.
 */
export type Settle = (id: string, delivered?: { readonly data: unknown }) => Promise<void>;

export function createSettle(
  receipts: Receipts,
  codec: Codec,
  durable: RowStorage['durable'],
): Settle {
  return async (id, delivered) => {
    const engine = durable();
    const known = receipts.get(id);
    if (!engine || !known?.isSaved) return;
    try {
      const row = await engine.store.find(id);
      if (receipts.get(id) !== known) return;
      if (row?.state === 'done') {
        receipts.resolve(id, await codec.decode(row.result).catch(() => undefined));
        await engine.store.acknowledge(id);
      } else if (row?.state === 'dead') receipts.reject(id, toDeadLetter(row));
      else if (!row && delivered) receipts.resolve(id, delivered.data);
      else if (!row) receipts.reject(id, gone(known.facts));
    } catch (error) {
      engine.onError(error);
    }
  };
}

/** Revives rows that another version of the app could not deliver, and this one perhaps can. */
export interface Redrive {
  /** Of all that are kept. */
  readonly all: (engine: Engine) => Promise<void>;
  /** Of one that another tab could not deliver. @returns whether there is hope for it. */
  readonly hear: (engine: Engine, id: string) => Promise<boolean>;
  /** This tab could not deliver it, either. */
  readonly giveUp: (id: string) => void;
}

const redrivable: readonly DeadReason[] = ['handler-missing', 'not-migrated', 'unreadable'];

/** `onDue` is told of each that is revived. */
export function createRedrive(
  handlers: ReadonlyMap<string, HandlerDefinition>,
  startedAt: number,
  onDue: (row: Row) => void,
): Redrive {
  /** Two tabs that cannot deliver one would give it to each other for ever. */
  const buried = new Set<string>();
  const isDeliverable = ({ handler, schema, version, isGone }: Row): boolean => {
    const known = handlers.get(handler);
    if (isGone || !known || schema > rowSchema || version > known.version) return false;
    return version === known.version || !!known.handler.migrate;
  };
  /** It waits for a tab of a version that is not this page's and was here before it: nobody else decides. */
  const isOurs = ({ handler, schema, version, createdAt }: Row): boolean =>
    schema <= rowSchema &&
    version <= (handlers.get(handler)?.version ?? Infinity) &&
    createdAt <= startedAt;
  const redrive = async (engine: Engine, id: string): Promise<boolean> => {
    const row = await engine.store.find(id);
    if (!row || buried.has(id)) return false;
    if (!isDeliverable(row) && !(row.waitsFor && isOurs(row))) return false;
    if (!row.waitsFor && !(row.deadReason && redrivable.includes(row.deadReason))) return false;
    const redriven = await engine.revive(id);
    if (redriven) onDue(redriven.row);
    return !!redriven;
  };
  return {
    hear: redrive,
    giveUp: (id) => void buried.add(id),
    async all(engine) {
      const { store } = engine;
      const redriveAll = async (load: Parameters<typeof pagesOf>[0]): Promise<void> => {
        for await (const { id } of pagesOf(load)) await redrive(engine, id);
      };
      await redriveAll((after, count) => store.list('other-version', after, count, 'waitsFor'));
      for (const reason of redrivable)
        await redriveAll((after, count) => store.list(reason, after, count, 'deadReason'));
    },
  };
}
