import type { Clock } from '../../lib/clock.ts';
import { withLimit } from '../../lib/wait.ts';
import type { ClearMark } from './clear-mark.ts';
import type { PageMemory } from '../delivery/deliver.ts';
import { discarded, type EntryFacts, notCleared } from '../errors.ts';
import type { OtherTabs } from '../messages.ts';
import type { Receipts } from '../receipts.ts';
import type { EntryStorage } from '../storage.ts';

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

/** Why the disk could not be cleared; undefined when it is, or there is none. */
type NotCleared = { readonly reason: unknown } | undefined;

export interface ForgetContext {
  readonly clock: Clock;
  readonly receipts: Receipts;
  readonly memory: Pick<PageMemory, 'endWaiting'>;
  readonly storage: Pick<EntryStorage, 'engines' | 'durable' | 'reopen' | 'lose'>;
  readonly mark: ClearMark;
  readonly others: Pick<OtherTabs, 'post'>;
  readonly onChange: () => void;
}

export function createForget({
  clock,
  receipts,
  memory,
  storage,
  mark,
  others,
  onChange,
}: ForgetContext): Forget {
  const one: Forget['one'] = (id, facts, error) => {
    for (const { worker } of storage.engines()) worker.abort(id);
    memory.endWaiting(id, 'cancelled');
    if (facts) receipts.reject(id, error ?? discarded(facts));
  };
  /** Unless it was settled meanwhile. */
  const leave = (id: string): void => {
    const known = receipts.get(id);
    one(id, known && { ...known.facts, isInDoubt: known.facts.isInDoubt || known.isKept });
  };
  const clear = async (token: string): Promise<NotCleared> => {
    for (const { forget, store } of storage.engines()) {
      forget();
      // That cannot fail, and so none of it is sent while the database is waited for.
      if (!store.isDurable) await store.clear(token);
    }
    // A database that could not be opened a while ago may open now.
    const failure = await storage.reopen();
    const engine = storage.durable();
    if (!engine) {
      if (!failure) mark.remove(token);
      return failure;
    }
    engine.forget();
    try {
      if (mark.has(token)) await engine.store.clear(token);
      mark.remove(token);
      return undefined;
    } catch (error) {
      // What is on that disk must not be sent, nor anything be added to it.
      storage.lose(engine, error);
      return { reason: error };
    }
  };
  /** Whatever hangs, whoever waits for it is told. */
  const clearSoon = (token: string): Promise<NotCleared> =>
    withLimit(clock, 'outbox.clear', () => clear(token)).catch((reason: unknown) => ({ reason }));

  return {
    one,
    async all() {
      const token = mark.set();
      others.post({ kind: 'cleared', token });
      for (const [id] of receipts.all()) leave(id);
      const failure = await clearSoon(token);
      onChange();
      if (failure) throw notCleared(await mark.isKept(), failure.reason);
      await storage.durable()?.ownership.look();
    },
    async obey(token) {
      mark.hear(token);
      const all = receipts.all();
      for (const [id, { isSaved }] of all) if (!isSaved) leave(id);
      await clearSoon(token);
      const durable = storage.durable();
      // What the other tab has not seen is of this page alone.
      for (const [id] of all)
        if (!(await durable?.store.find(id).catch(() => undefined))) leave(id);
      onChange();
      await durable?.ownership.look();
    },
  };
}
