import type { Decision, Operation } from '../core/internal.ts';
import { promptBeforeUnload } from '../core/lib/browser/page.ts';
import type { EntryFacts } from './errors.ts';
import type { Row } from './store/row.ts';

/** The state of a submission of this tab. */
export interface Progress {
  readonly attempt: number;
  /** The attempt that is under way, or the last one. */
  readonly operation?: Operation;
  /** When it is sent next; undefined while it is being sent. */
  readonly retryAt?: number | undefined;
  readonly decision?: Decision | undefined;
  readonly error?: unknown;
}

export type OnProgress = (progress: Progress) => void;

/** The part of an entry that the page which submitted it holds until its end. */
export interface Receipt {
  readonly facts: EntryFacts;
  /** The result, shared by all callers. */
  readonly promise: Promise<unknown>;
  readonly resolve: (data: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** The listener of the latest caller. */
  readonly onProgress?: OnProgress | undefined;
  /** On the disk other tabs find it. Undefined before it is kept: until then nothing of it is sent. */
  readonly keptIn?: 'disk' | 'page' | undefined;
}

function createReceipt(facts: EntryFacts): Receipt {
  let end!: Pick<Receipt, 'resolve' | 'reject'>;
  const promise = new Promise<unknown>((resolve, refuse) => (end = { resolve, reject: refuse }));
  // Not unhandled: a caller that ignores it finds the end among the entries.
  promise.catch(() => {});
  return { facts, promise, ...end };
}

/**
 * The submissions of this page whose end is not known. While one of them is not on the disk, the browser asks before the
 * page is closed.
 */
export class Receipts {
  readonly #known: Map<string, Receipt> = new Map();
  readonly #unsaved: Set<string> = new Set();
  #stay: (() => void) | undefined;

  /** The receipt for the entry with this id, shared by all callers. */
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

  /** Records that it is stored: on the disk, or only in this page. */
  save(id: string, isDurable: boolean): void {
    const known = this.#known.get(id);
    if (!known) return;
    this.#known.set(id, { ...known, keptIn: isDurable ? 'disk' : 'page' });
    this.#setSaved(id, isDurable);
  }

  resolve(id: string, data: unknown): void {
    this.#take(id)?.resolve(data);
  }

  reject(id: string, error: unknown): void {
    this.#take(id)?.reject(error);
  }

  /** Changes its id. If the entry was merged with another one, it ends as that one does. */
  rename(id: string, next: string, entry?: Row): void {
    const known = this.#known.get(id);
    const other = this.#known.get(next);
    this.#known.delete(id);
    if (known && other) void other.promise.then(known.resolve, known.reject);
    const going = other ?? known;
    if (!going) return;
    this.#known.set(next, { ...going, facts: entry ?? { ...going.facts, id: next } });
    if (this.#unsaved.delete(id)) this.#unsaved.add(next);
  }

  /** Reports the progress of a claimed entry to its submitter. */
  report({ id, attempts }: Row, progress: Omit<Progress, 'attempt'>): void {
    this.#known.get(id)?.onProgress?.({ ...progress, attempt: attempts + 1 });
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
