import type { Clock } from '../policy/clock.ts';
import type { Backend } from './backend.ts';
import type { Engine } from './engine.ts';
import { createMemoryBackend } from './memory-backend.ts';
import { type NotDurableReason, reasonOf } from './open-database.ts';
import type { Row, Unplaced } from './row.ts';

/** Where the rows of this page are: on the disk, or only here. */
export interface Storage {
  /** Resolves once it is known whether there is a disk. */
  readonly ready: () => Promise<unknown>;
  readonly durable: () => Engine | undefined;
  readonly engines: () => readonly Engine[];
  /** Keeps a row, on the disk if that is possible. */
  readonly add: (row: Unplaced) => Promise<{ readonly row: Row; readonly isDurable: boolean }>;
  /** Something has failed, which may say that the disk is gone. */
  readonly noteTrouble: (error: unknown) => void;
  readonly dispose: () => void;
}

export interface StorageContext {
  readonly clock: Clock;
  readonly open: (onLost: (reason: NotDurableReason) => void) => Promise<Backend>;
  readonly startEngine: (backend: Backend) => Engine;
  /** A database was opened: now what an earlier page has left can be sent. */
  readonly onOpen: (engine: Engine) => Promise<void>;
  readonly show: (storage: 'durable' | NotDurableReason) => void;
}

/** A database that was lost is opened anew after so long. */
const reopenMs = 1000;
/** One that could not be opened, but may be one day, is tried again after so long. */
const retryOpenMs = 5000;

export function createStorage({
  clock,
  open: openBackend,
  startEngine,
  onOpen,
  show,
}: StorageContext): Storage {
  let durable: Engine | undefined;
  let memory: Engine | undefined;
  let timer: unknown;
  let isOver = false;

  const open = async (): Promise<void> => {
    try {
      const backend = await openBackend(lose);
      if (isOver) return backend.close();
      durable = startEngine(backend);
      show('durable');
    } catch (error) {
      const reason = reasonOf(error) ?? 'unavailable';
      show(reason);
      const isPassing = reason === 'blocked' || reason === 'quota';
      // Nobody waits for that: it may take as long as a tab is open.
      if (isPassing && !isOver) timer = clock.setTimeout(() => void open(), retryOpenMs);
      return;
    }
    // Nobody who submits waits for it.
    void Promise.resolve(durable).then(onOpen).catch(noteTrouble);
  };
  function lose(reason: NotDurableReason): void {
    if (isOver || !durable) return;
    durable.dispose();
    durable = undefined;
    show(reason);
    if (reason !== 'lost') return;
    timer = clock.setTimeout(() => {
      ready = open();
    }, reopenMs);
  }
  const noteTrouble = (error: unknown): void => {
    const reason = reasonOf(error);
    if (reason === 'lost') lose(reason);
    else if (reason) show(reason);
  };
  let ready = open();

  return {
    ready: () => ready,
    durable: () => durable,
    engines: () => [durable, memory].filter((engine) => engine !== undefined),
    async add(row) {
      await ready;
      if (durable) {
        try {
          const added = await durable.add(row);
          show('durable');
          return { row: added, isDurable: true };
        } catch (error) {
          noteTrouble(error);
          if (!reasonOf(error)) throw error;
        }
      }
      memory ??= startEngine(createMemoryBackend());
      return { row: await memory.add(row), isDurable: false };
    },
    noteTrouble,
    dispose() {
      isOver = true;
      clock.clearTimeout(timer);
      for (const engine of [durable, memory]) {
        engine?.dispose();
        engine?.store.close();
      }
    },
  };
}
