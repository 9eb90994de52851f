import type { Network } from '../origin/network.ts';
import { type AttemptContext, createAttempt } from './attempt-row.ts';
import { createDelivery, type Delivery } from './delivery.ts';
import { createOwnership, type Ownership } from './ownership.ts';
import type { Fence, Row, Unplaced } from './row.ts';
import type { OutboxStore } from './store.ts';
import type { TabPorts } from './tab-ports.ts';

/** A store, and what sends its rows. */
export interface Engine {
  readonly store: OutboxStore;
  readonly ownership: Ownership;
  readonly delivery: Delivery;
  /** Keeps a row of this tab's own, and sends it when it is due. @returns the row as it is kept. */
  readonly add: (row: Unplaced) => Promise<Row>;
  /** Sends the rows of an owner that is this tab's. */
  readonly take: (owner: string) => void;
  readonly dispose: () => void;
}

export interface EngineContext extends Omit<AttemptContext, 'note'> {
  readonly store: OutboxStore;
  readonly network: Network;
  readonly parallel: number;
  readonly lock: TabPorts['lock'];
  readonly name: string;
  /** A row is being sent. */
  readonly onStart: (row: Row) => void;
  /** This tab has rows to send for the first time, or those of another that has died. */
  readonly onOwn: () => void;
  readonly onError: (error: unknown) => void;
}

export function createEngine(context: EngineContext): Engine {
  const { store, sender, network, parallel, lock, name, onStart, onOwn } = context;
  const { clock } = sender;
  let isOver = false;
  /** What fails once its store is given up says nothing of the next one. */
  const onError = (error: unknown): void => {
    if (!isOver) context.onError(error);
  };
  const ownership = createOwnership({
    clock,
    store,
    lock,
    name,
    onGain(fence) {
      // Whoever had it may have died between an end and telling whose turn had come.
      delivery.look();
      delivery.drive(fence);
      onOwn();
    },
    onError,
  });
  const attempt = createAttempt({
    ...context,
    note: (seq, fence, primary) => void store.note(seq, fence, primary).catch(onError),
  });
  const delivery = createDelivery({
    clock,
    store,
    network,
    parallel,
    attempt,
    onStart,
    onLost: ownership.lose,
    onError,
    onIdle() {
      ownership
        .tidy()
        .then((given) => given.forEach(({ owner }) => delivery.drop(owner)))
        .catch(onError);
    },
  });

  const drive = (fence: Fence): void => {
    if (delivery.drive(fence)) onOwn();
  };
  const add = async (row: Unplaced): Promise<Row> => {
    for (;;) {
      const added = await ownership.use(async (fence, leaseUntil) => {
        const { owner } = fence;
        const kept = await store.add({ ...row, owner, liveOwner: owner }, fence, leaseUntil);
        if (kept) drive(fence);
        else ownership.lose(fence);
        return kept;
      });
      if (!added) continue;
      delivery.add(added);
      return added;
    }
  };

  return {
    store,
    ownership,
    delivery,
    add,
    take(owner) {
      const fence = ownership.held().find((one) => one.owner === owner);
      if (fence) drive(fence);
    },
    dispose() {
      isOver = true;
      delivery.dispose();
      ownership.dispose();
    },
  };
}
