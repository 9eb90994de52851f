import { type AttemptContext, createAttempt } from './deliver.ts';
import { discarded } from '../errors.ts';
import type { OtherTabs, Pauses } from '../messages.ts';
import type { Receipts } from '../enqueue.ts';
import type { Display } from '../state.ts';
import { Ownership, type OwnershipContext } from './ownership.ts';
import type { Revived, RowStore } from '../store/row-store.ts';
import type { Fence } from '../store/schema.ts';
import type { NewRow, Row, Unplaced } from '../store/row.ts';
import { createWorker, type Worker, type WorkerContext } from './worker.ts';

/** A store, and what sends its entries. */
export interface Engine {
  readonly store: RowStore;
  readonly ownership: Ownership;
  readonly worker: Worker;
  /** Which database it is; undefined for what is in this page alone. */
  readonly generation: string | undefined;
  /**
   * Keeps an entry of this tab's own, and sends it when it is due. `isMoved`: it was kept elsewhere before.
   *
   * @returns the entry as it is kept.
   * @throws SteadfetchError (as a rejection) when it was discarded or cleared meanwhile.
   */
  readonly add: (entry: Unplaced, isWanted: () => boolean, isMoved?: boolean) => Promise<Row>;
  /**
   * A user wants an entry to be sent now, or again; `change` makes another of it.
   *
   * @returns the entry as it is now, and whose turn has come by that; undefined when that cannot be.
   */
  readonly revive: (id: string, change?: (entry: Row) => Row) => Promise<Revived | undefined>;
  /** The page is put away: its entries are sent by others until it is back. */
  readonly leave: () => void;
  /** All entries were discarded. */
  readonly forget: () => void;
  readonly onError: (error: unknown) => void;
  readonly dispose: () => void;
}

export interface EngineContext
  extends
    Omit<AttemptContext, 'note' | 'onChange'>,
    Omit<WorkerContext, 'clock' | 'random' | 'attempt' | 'onLost' | 'onIdle'>,
    Omit<OwnershipContext, 'clock' | 'onGain' | 'tokens'> {
  readonly generation: string | undefined;
  readonly receipts: Receipts;
  readonly pauses: Pick<Pauses, 'note'>;
  readonly display: Pick<Display, 'refresh'>;
  readonly others: Pick<OtherTabs, 'post'>;
}

export function createEngine(context: EngineContext): Engine {
  const { store, receipts, pauses, display, others, onError } = context;
  const { clock, random } = context.sender;
  /** There are entries of an owner that the other tabs do not know yet, or whose owner has died. */
  const tellOwner = (): void => others.post({ kind: 'owner' });
  const ownership: Ownership = new Ownership({
    ...context,
    clock,
    tokens: context.memory.tokens,
    onGain(fence) {
      // Whoever had it may have died between an end and telling whose turn had come.
      worker.look();
      worker.drive(fence);
      tellOwner();
    },
  });
  const worker: Worker = createWorker({
    ...context,
    clock,
    random,
    attempt: createAttempt({
      ...context,
      onChange(entry, operation) {
        if (operation.phase.kind !== 'ended') receipts.tell(entry, { operation });
        pauses.note(entry, operation);
        display.refresh();
        worker.check();
      },
      // What was cleared while it waited at the gate does not go.
      note: async (...noted) => context.clearing() === undefined && store.note(...noted),
    }),
    onLost: (fence) => ownership.lose(fence),
    onIdle() {
      ownership
        .tidy()
        .then((given) => given.forEach(({ owner }) => worker.drop(owner)))
        .catch(onError);
    },
  });

  const drop = (): void => {
    context.memory.endWaiting(undefined, 'cancelled');
    for (const { owner } of ownership.held()) worker.drop(owner);
  };
  const driveOrTell = (fence: Fence): void => {
    if (ownership.has(fence)) {
      if (worker.drive(fence)) tellOwner();
      return;
    }
    // It was given up while the entry was written: to whoever looks first.
    tellOwner();
    void ownership.look();
  };
  const add: Engine['add'] = async (entry, isWanted, isMoved = false) => {
    const clears = isMoved ? context.memory.clears : undefined;
    for (;;) {
      if (!isWanted()) throw discarded(entry);
      const added = await ownership.use(async (fence) => {
        const { owner } = fence;
        const isLive = entry.state === 'pending' && !entry.waitsFor;
        const kept = await store.add(
          { ...entry, owner: isLive ? owner : undefined } as NewRow,
          fence,
          clock.now(),
          clears,
        );
        if (kept === 'lost') ownership.lose(fence);
        else if (kept !== 'cleared' && kept.owner === owner) driveOrTell(fence);
        return kept;
      });
      if (added === 'cleared') throw discarded(entry);
      if (added === 'lost') continue;
      if (isWanted()) worker.add(added);
      return added;
    }
  };

  return {
    store,
    generation: context.generation,
    ownership,
    worker,
    add,
    async revive(id, change) {
      for (;;) {
        const revived = await ownership.use(async (fence) => {
          const found = await store.revive(id, fence, clock.now(), change);
          if (found === 'lost') ownership.lose(fence);
          else if (found) driveOrTell(fence);
          return found;
        });
        if (revived !== 'lost') return revived;
      }
    },
    forget() {
      drop();
      worker.abort();
      ownership.release();
    },
    leave() {
      drop();
      ownership.leave();
    },
    onError,
    dispose() {
      context.memory.endWaiting(undefined, 'cancelled');
      worker.dispose();
      ownership.dispose();
      store.close();
    },
  };
}
