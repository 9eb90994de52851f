export type { RetryControls } from './query/query-controls.ts';
export type { HoldReason, RetryStatus } from './query/retry-status.ts';
export type { StatusTarget } from './query/status-store.ts';
export { useCountdown } from './react/use-countdown.ts';
export { useRetryStatus } from './react/use-retry-status.ts';
