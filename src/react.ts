export type {
  AnyPauseReason,
  RetryControls,
  RetryState,
} from './core/react-query/status/status.ts';
export type { ConnectivityState } from './core/connectivity/connectivity.ts';
export type { MutationStatusTarget, MutationTarget } from './core/react-query/status/mutation.ts';
export type { OriginState } from './core/origin/status.ts';
export { useConnectivity } from './core/react/use-connectivity.ts';
export type { ConnectivityControls } from './core/react/use-connectivity.ts';
export { useCountdown } from './core/react/use-countdown.ts';
export { useFallback } from './core/react/use-fallback.ts';
export { useOriginStatus } from './core/react/use-origin-status.ts';
export { useMutationStatus } from './core/react/use-status.ts';
export { useRetryStatus } from './core/react/use-status.ts';
export { type SteadyMutationResult, useSteadyMutation } from './core/react/use-steady-mutation.ts';
export { KeyField, type KeyFieldProps } from './core/react/key-field.tsx';
export { type SafeAction, sendAction, useSafeAction } from './core/react/use-safe-action.ts';
export type { SendActionOptions } from './core/form/action-form.ts';
export type { ActionState } from './core/lib/action-state.ts';
export { useSafeSubmit } from './core/react/use-safe-submit.ts';
export type {
  Confirmation,
  ResolveContext,
  SafeSubmitOptions,
  SafeSubmitResult,
  SubmitResult,
  UnknownSubmission,
} from './core/form/safe-submit.ts';
export type { ConfirmationReason } from './core/form/submission.ts';
export { type OutboxControls, useOutbox } from './outbox/react/use-outbox.ts';
export {
  type OutboxEntryControls,
  useOutboxEntries,
  useOutboxEntry,
} from './outbox/react/use-outbox.ts';
export {
  type OutboxMutationResult,
  useOutboxMutation,
} from './outbox/react/use-outbox-mutation.ts';
