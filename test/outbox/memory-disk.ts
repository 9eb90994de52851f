import type { Database } from '../../src/outbox/store/schema.ts';
import { createMemoryBackend } from './memory-backend.ts';
import { pageNow } from './page-now.ts';

const disks = new Map<string, ReturnType<typeof createMemoryBackend>>();

/** Opens a disk that is in memory, for runs of many sessions: only that of the latest browser is kept. */
export function openInMemory(name: string, lost: () => Error): Database {
  const disk = disks.get(name) ?? createMemoryBackend();
  disks.clear();
  disks.set(name, disk);
  const page = pageNow.getStore();
  let isClosed = false;
  const watch = (mode: IDBTransactionMode): void => {
    page?.watch(mode);
    if (isClosed) throw lost();
  };
  return {
    read: async (work) => {
      watch('readonly');
      return disk.read(work);
    },
    write: async (durability, work) => {
      watch(durability === 'page' ? 'readonly' : 'readwrite');
      return disk.write(durability, work);
    },
    close: () => void (isClosed = true),
  };
}
