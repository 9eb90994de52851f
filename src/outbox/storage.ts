import { type Alarm, startAlarm } from '../lib/timer.ts';
import { createRowStore } from './store/create-row-store.ts';
import type { Backend, Row, Unplaced } from './store/schema.ts';
import { createEngine, type Engine, type EngineContext } from './delivery/engine.ts';
import type { Display } from './state.ts';
import { disposedOf, leftBehind } from './errors.ts';
import { createMemoryBackend } from './store/backends.ts';
import {
  DatabaseError,
  hasIndexedDb,
  type NotDurableReason,
  reasonOf,
} from './store/open-database.ts';

/** Where the entries of this page are: on the disk, or only here. */
export interface EntryStorage {
  /** Resolves once it is known whether there is a disk; rejects once it is disposed of. */
  readonly ready: () => Promise<unknown>;
  readonly durable: () => Engine | undefined;
  readonly engines: () => readonly Engine[];
  /**
   * Keeps an entry, on the disk if that is possible.
   *
   * @throws SteadfetchError (as a rejection) once `isWanted` says that it was discarded meanwhile.
   */
  readonly add: (
    entry: Unplaced,
    isWanted: () => boolean,
  ) => Promise<{ readonly entry: Row; readonly isDurable: boolean }>;
  /** Writes what a user has asked for; whether the disk takes it is shown. Rejects as `work` does. */
  readonly write: <T>(engine: Engine, work: () => Promise<T>) => Promise<T>;
  /**
   * Opens the database once more, where it is not open. @returns why it is not; undefined when it is, or
   * this environment has none.
   */
  readonly reopen: () => Promise<{ readonly reason: unknown } | undefined>;
  /** This engine is no longer used; its database is opened anew later. */
  readonly lose: (engine: Engine, error: unknown) => void;
  /** Nothing more is sent, and nothing of earlier pages is taken; what is submitted is still kept. */
  readonly stop: () => void;
  readonly dispose: () => void;
}

export interface StorageContext extends Omit<EngineContext, 'store' | 'onError' | 'display'> {
  readonly open: (
    onLost: (reason: NotDurableReason) => void,
    onErased: () => void,
  ) => Promise<Backend>;
  readonly display: Pick<Display, 'refresh' | 'show'>;
  /** A database was opened: now what an earlier page has left can be sent. */
  readonly onOpen: (engine: Engine) => Promise<void>;
}

/** A database that is not there is opened anew after so long, and then after twice as long each time. */
const reopenMs = 1000;
const longestReopenMs = 60_000;
/** What may be on a disk that does not work, and is not to be, is looked for again after so long. */
const lookAgainMs = 5000;

export function createStorage(context: StorageContext): EntryStorage {
  const { open: openBackend, display, onOpen } = context;
  const { clock } = context.sender;
  const show = (storage: NotDurableReason | 'durable'): void => display.show({ storage });
  const hasDisk = hasIndexedDb();
  let durable: Engine | undefined;
  let memory: Engine | undefined;
  let waitMs = reopenMs;
  let setReopening: Alarm | undefined;
  let isStopped = false;
  let isOver = false;
  /** Why the database is not open, as far as is known. */
  let failure: unknown;
  let opening: Promise<void> | undefined;

  const engines = (): readonly Engine[] =>
    [durable, memory].filter((engine) => engine !== undefined);
  const isBlockedOnDisk = async (scope: string): Promise<boolean> =>
    (await durable?.store.isBlocked(scope).catch(() => false)) ?? false;
  const open = async (): Promise<void> => {
    let engine: Engine | undefined;
    try {
      const backend = await openBackend(
        (reason) => lose(engine, reason),
        () => display.show({ wasErased: true }),
      );
      if (isOver) return backend.close();
      engine = createEngine({
        ...context,
        store: createRowStore(backend, { isSending: (scope) => !!memory?.store.isSending(scope) }),
        onError: (error) => noteTrouble(engine, reasonOf(error)),
      });
    } catch (error) {
      failure = error;
      if (isOver) return;
      const reason = reasonOf(error) ?? 'unavailable';
      show(reason);
      if (hasDisk && reason !== 'newer-version') openLater();
      return;
    }
    durable = engine;
    waitMs = reopenMs;
    if (isStopped) return engine.worker.dispose();
    show('durable');
    // Nobody who submits waits for it.
    void onOpen(engine);
  };
  const openOnce = (): Promise<void> => (opening ??= open().finally(() => (opening = undefined)));
  const openLater = (): void => {
    setReopening = startAlarm(clock, waitMs, () => void openOnce());
    waitMs = Math.min(2 * waitMs, longestReopenMs);
  };
  /** What was said of one that is no longer used says nothing. */
  const lose = (
    engine: Engine | undefined,
    reason: NotDurableReason,
    isLater: boolean = reason === 'lost',
  ): void => {
    if (isOver || !engine || engine !== durable) return;
    durable = undefined;
    failure = new DatabaseError(reason);
    engine.dispose();
    show(reason);
    if (isLater) openLater();
  };
  const noteTrouble = (engine: Engine | undefined, reason: NotDurableReason | undefined): void => {
    if (reason === 'lost') lose(engine, reason);
    else if (reason && !isOver && engine && engine === durable) show(reason);
  };
  const write = async <T>(
    engine: Engine,
    work: () => Promise<T>,
    isWanted: () => boolean = () => true,
  ): Promise<T> => {
    try {
      const written = await work();
      if (engine === durable) show('durable');
      return written;
    } catch (error) {
      // What cannot be stored says nothing of the disk.
      if (isWanted() && Object(error).name !== 'DataCloneError')
        noteTrouble(engine, reasonOf(error) ?? 'unavailable');
      throw error;
    }
  };
  const isOpen = openOnce();

  /** Which entries are of this page alone, and may be on the disk, too. */
  const copies = new Set<string>();
  /**
   * What could not be written may be there all the same: the browser has hung for too long, and then gone
   * on. Sent from here and from there, by the next page, it could be done twice.
   */
  const removeCopy = async (id: string): Promise<void> => {
    try {
      if (!durable) throw failure;
      const { store } = durable;
      if (!(await store.find(id)) || !copies.has(id)) return;
      const { next } = (await store.discard(id, clock.now())) ?? {};
      if (next) context.onDue(next);
    } catch {
      if (isOver) return;
      startAlarm(clock, lookAgainMs, () => void removeCopy(id));
    }
  };

  return {
    async ready() {
      if (isStopped) throw disposedOf('outbox');
      await isOpen;
    },
    async reopen() {
      await opening;
      if (!durable && hasDisk && !isOver) {
        setReopening?.(Infinity);
        await openOnce();
      }
      return durable || !hasDisk ? undefined : { reason: failure };
    },
    lose: (engine, error) => lose(engine, reasonOf(error) ?? 'unavailable', true),
    durable: () => durable,
    write,
    engines,
    async add(entry, isWanted) {
      await isOpen;
      // Behind one of its scope that is in this page alone, and may go later.
      const isBehind = entry.scope !== undefined && (await memory?.store.isBlocked(entry.scope));
      const engine = durable;
      const { id, isInDoubt } = entry;
      copies.delete(id);
      if (engine && !isBehind) {
        try {
          return {
            entry: await write(engine, () => engine.add(entry, isWanted), isWanted),
            isDurable: true,
          };
        } catch (error) {
          // What cannot be stored there cannot be kept here, either.
          if (Object(error).name === 'DataCloneError') throw error;
          // What was sent before may be there from before.
          if (!isInDoubt) {
            copies.add(id);
            void removeCopy(id);
          }
          if (!isWanted()) throw error;
        }
      }
      if (isStopped) throw leftBehind(entry, false);
      memory ??= createEngine({
        ...context,
        store: createRowStore(createMemoryBackend(), { isBlocked: isBlockedOnDisk }),
        lock: undefined,
        clearing: () => undefined,
        onError: () => {},
      });
      return { entry: await memory.add(entry, isWanted), isDurable: false };
    },
    stop() {
      isStopped = true;
      setReopening?.(Infinity);
      for (const { worker } of engines()) {
        worker.abort();
        worker.dispose();
      }
    },
    dispose() {
      isOver = true;
      setReopening?.(Infinity);
      for (const engine of engines()) engine.dispose();
    },
  };
}
