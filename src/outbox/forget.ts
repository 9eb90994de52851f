import { discarded, type EntryFacts } from './errors.ts';
import type { Storage } from './storage.ts';
import type { Submissions } from './submissions.ts';

/** Breaks off what was discarded, by a person here or in another tab, and tells whoever waits for it. */
export interface Forget {
  /** `error` is what its submission ends in. */
  readonly one: (id: string, facts: EntryFacts | undefined, error?: unknown) => void;
  /**
   * All that there is. Where another tab has discarded all rows (`isHere` is false), what it has not
   * seen is of this page alone.
   */
  readonly all: (isHere: boolean) => Promise<void>;
}

/** `onCleared`: this tab has discarded all rows, which the others are to hear. */
export function createForget(
  submissions: Submissions,
  storage: Pick<Storage, 'ready' | 'engines' | 'durable'>,
  onCleared: () => void,
): Forget {
  const one: Forget['one'] = (id, facts, error) => {
    for (const { delivery } of storage.engines()) delivery.running(id)?.controller.abort();
    if (facts) submissions.reject(id, error ?? discarded(facts));
  };
  /** Unless it was settled meanwhile. */
  const leave = (id: string): void => {
    const known = submissions.get(id);
    one(id, known && { ...known.facts, isInDoubt: known.isSaved || !!known.row });
  };
  return {
    one,
    async all(isHere) {
      const all = submissions.all();
      for (const [id, { isSaved }] of all) if (!isSaved) leave(id);
      await storage.ready();
      for (const { store, forget } of storage.engines()) {
        if (isHere || !store.isDurable) await store.clear();
        forget();
      }
      const find = (id: string): Promise<unknown> | undefined =>
        storage
          .durable()
          ?.store.find(id)
          .catch(() => undefined);
      for (const [id] of all) if (isHere || !(await find(id))) leave(id);
      if (isHere) onCleared();
      await storage.durable()?.ownership.look();
    },
  };
}
