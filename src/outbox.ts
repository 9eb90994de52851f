export { createOutbox } from './outbox/query-adapter/create-outbox.ts';
export { deliverOnSync, type WorkerOutboxConfig } from './outbox/query-adapter/create-outbox.ts';
export { outboxHandler } from './outbox/query-adapter/outbox.ts';
export type {
  AnyOutboxHandlers,
  DataOf,
  DeliveredEntry,
  EntryOf,
  Outbox,
  OutboxConfig,
  OutboxMutationOptions,
  QueryOutboxHandler,
  VariablesOf,
} from './outbox/query-adapter/outbox.ts';
export type { EntryState, OutboxEntry } from './outbox/entries.ts';
export { DeadLetterError, isDeadLetterError } from './outbox/errors.ts';
export type {
  OutboxCoalesce,
  OutboxContext,
  OutboxHandler,
  OutboxPolicy,
} from './outbox/handler.ts';
export { type Answering, answerOf } from './outbox/links/answer-of.ts';
export { coalesceUnsent } from './outbox/links/coalesce.ts';
export { outboxLinks, type OutboxLinksOptions } from './outbox/links/outbox-links.ts';
export type { NotDurableReason } from './outbox/store/disk.ts';
export type { OutboxFilter } from './outbox/entries.ts';
export type { OutboxState } from './outbox/state.ts';
export type { DeadReason, RowError } from './outbox/store/row.ts';
export type { OutboxCipher } from './outbox/codec.ts';
export type { TabPorts } from './core/tabs/ports.ts';
