export { idempotent, type IdempotentContext, type IdempotentHandler } from './server/idempotent.ts';
export {
  memoryStore,
  type MemoryStoreOptions,
  type MemoryTransaction,
} from './server/memory-store.ts';
export type { IdempotentOptions } from './server/options.ts';
export type { ProblemCode } from './server/response.ts';
export {
  type SqliteDatabase,
  sqliteStore,
  type SqliteStoreOptions,
} from './server/sqlite-store.ts';
export {
  type Claim,
  type ClaimResult,
  type IdempotencyStore,
  LeaseOverError,
  type StoredAnswer,
} from './server/store.ts';
