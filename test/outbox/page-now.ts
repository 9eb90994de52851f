import { AsyncLocalStorage } from 'node:async_hooks';

/** A page, as what happens to its databases. */
export interface Page {
  readonly watch: (mode: IDBTransactionMode | undefined) => void;
  readonly faultNow: () => string;
  readonly onOpen: () => void;
}

/** Which page runs: whatever follows from what it does, later too, is its own. */
export const pageNow = new AsyncLocalStorage<Page>();
