export { idempotent, type IdempotentContext, type IdempotentHandler } from './server/idempotent.ts';
export {
  type ActionContext,
  type ActionStateOf,
  createActionState,
  idempotentAction,
  refuse,
  type Refusal,
} from './server/idempotent-action.ts';
export type { ActionState } from './core/lib/action-state.ts';
export type { IdempotentActionOptions } from './server/action-options.ts';
export {
  memoryStore,
  type MemoryStoreOptions,
  type MemoryTransaction,
} from './server/stores/memory-store.ts';
export type { IdempotentOptions } from './server/options.ts';
export type { ProblemCode } from './server/response.ts';
export {
  type SqliteDatabase,
  sqliteStore,
  type SqliteStoreOptions,
} from './server/stores/sqlite-store.ts';
export {
  type Claim,
  type ClaimResult,
  type IdempotencyStore,
  LeaseOverError,
  type StoredAnswer,
} from './server/stores/store.ts';
