import type { ClearMark } from './clear-mark.ts';
import { discarded, type EntryFacts, notCleared } from './errors.ts';
import type { RowStorage } from './storage.ts';
import type { Submissions } from './submissions.ts';

/** Breaks off what was discarded, by the user here or in another tab, and tells whoever waits for it. */
export interface Forget {
  /** `error` is what its submission ends in. */
  readonly one: (id: string, facts: EntryFacts | undefined, error?: unknown) => void;
  /**
   * All entries, for this tab and the others. From the call on, nothing of them is sent.
   *
   * @throws Error (as a rejection) when they are still on the disk.
   */
  readonly all: () => Promise<void>;
  /** The same, where another tab or an earlier page has asked for it. Never rejects. */
  readonly obey: (token: string) => Promise<void>;
}

/** `onClear` is told at once; `onCleared` when nothing is left. */
export function createForget(
  submissions: Submissions,
  storage: Pick<RowStorage, 'ready' | 'engines' | 'durable' | 'reopen' | 'lose'>,
  mark: ClearMark,
  onClear: (token: string) => void,
  onCleared: () => void,
): Forget {
  const one: Forget['one'] = (id, facts, error) => {
    for (const { worker } of storage.engines()) worker.running(id)?.controller.abort();
    if (facts) submissions.reject(id, error ?? discarded(facts));
  };
  /** Unless it was settled meanwhile. */
  const leave = (id: string): void => {
    const known = submissions.get(id);
    one(id, known && { ...known.facts, isInDoubt: known.facts.isInDoubt || known.isKept });
  };
  /** @returns why the disk could not be cleared; undefined when it is, or there is none. */
  const clear = async (token: string): Promise<{ readonly reason: unknown } | undefined> => {
    for (const { forget } of storage.engines()) forget();
    // A database that could not be opened a while ago may open now, and then it is cleared first.
    const failure = await storage.reopen();
    // What is in this page alone first: that cannot fail.
    for (const engine of storage.engines().toReversed()) {
      engine.forget();
      if (engine.store.isDurable && mark.get() !== token) continue;
      try {
        await engine.store.clear(token);
        if (engine.store.isDurable) mark.remove(token);
      } catch (error) {
        // What is on that disk must not be sent, nor anything be added to it.
        storage.lose(engine, error);
        return { reason: error };
      }
    }
    return failure;
  };

  return {
    one,
    async all() {
      const token = mark.set();
      onClear(token);
      const all = submissions.all();
      for (const [id, { isSaved }] of all) if (!isSaved) leave(id);
      const failure = await clear(token);
      for (const [id] of all) leave(id);
      onCleared();
      if (failure) throw notCleared(await mark.isKept(), failure.reason);
      mark.remove(token);
      await storage.durable()?.ownership.look();
    },
    async obey(token) {
      mark.hear(token);
      const all = submissions.all();
      for (const [id, { isSaved }] of all) if (!isSaved) leave(id);
      await clear(token);
      const durable = storage.durable();
      // What the other tab has not seen is of this page alone.
      for (const [id] of all)
        if (!(await durable?.store.find(id).catch(() => undefined))) leave(id);
      onCleared();
      await durable?.ownership.look();
    },
  };
}
