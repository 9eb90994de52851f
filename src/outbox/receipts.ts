import { askBeforeLeaving } from '../lib/browser/page.ts';
import type { Operation } from '../operation/operation.ts';
import type { Decision } from '../policy/decide.ts';
import type { EntryFacts } from './errors.ts';
import type { Pauses } from './messages.ts';
import type { Row, Unplaced } from './store/schema.ts';

/** What this page holds of an entry that it has submitted, until that has ended. */
export interface Receipt {
  readonly facts: EntryFacts;
  /** Its result, for as many as ask. */
  readonly promise: Promise<unknown>;
  /** Of whoever has asked last. */
  onProgress: OnProgress | undefined;
  /** As it is kept; undefined before. */
  entry: Unplaced | undefined;
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
  readonly rename: (id: string, next: string, entry?: Row) => void;
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
          entry: undefined,
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
    rename(id, next, entry) {
      const one = known.get(id);
      known.delete(id);
      const facts = entry ?? { ...one?.facts, id: next };
      if (one)
        known.set(next, { ...one, facts: facts as EntryFacts, entry: entry && unplace(entry) });
      if (unsaved.delete(id)) unsaved.add(next);
    },
  };
}

function unplace(entry: Row): Unplaced {
  const { seq: _, owner: __, liveOwner: ___, ...unplaced } = entry;
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
  readonly operation: Operation | undefined;
  /** When it is sent next; undefined while it is being sent. */
  readonly retryAt: number | undefined;
  readonly decision: Decision | undefined;
  readonly error: unknown;
}

/** Whoever has submitted an entry here, and is told how it goes. */
interface Listeners {
  readonly get: (id: string) => { readonly onProgress: OnProgress | undefined } | undefined;
}

export type OnProgress = (progress: Progress) => void;

/** Tells how it goes with an entry. */
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
  entry: Row,
  operation: Operation,
  onChange: () => void,
): void {
  operation.onChange = () => {
    const none = { retryAt: undefined, decision: undefined, error: undefined };
    if (operation.phase !== 'ended') tellProgress(listeners, entry, { operation, ...none });
    pauses.note(entry, operation);
    onChange();
  };
  operation.onChange();
}
