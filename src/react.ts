export type { AnyPauseReason, RetryControls, RetryState } from './react-query/status/status.ts';
export type { ConnectivityState } from './connectivity/connectivity.ts';
export type { MutationStatusTarget, MutationTarget } from './react-query/status/mutation.ts';
export type { OriginState } from './origin/status.ts';
export { useConnectivity } from './react/use-connectivity.ts';
export type { ConnectivityControls } from './react/use-connectivity.ts';
export { useCountdown } from './react/use-countdown.ts';
export { useFallback } from './react/use-fallback.ts';
export { useOriginStatus } from './react/use-origin-status.ts';
export { useMutationStatus } from './react/use-status.ts';
export { useRetryStatus } from './react/use-status.ts';
export { type SteadyMutationResult, useSteadyMutation } from './react/use-steady-mutation.ts';
export { KeyField, type KeyFieldProps } from './react/key-field.tsx';
export { type SafeAction, sendAction, useSafeAction } from './react/use-safe-action.ts';
export type { SendActionOptions } from './form/action-form.ts';
export type { ActionState } from './lib/action-state.ts';
export { useSafeSubmit } from './react/use-safe-submit.ts';
export type {
  Confirmation,
  ResolveContext,
  SafeSubmitOptions,
  SafeSubmitResult,
  SubmitResult,
  UnknownSubmission,
} from './form/safe-submit.ts';
export type { ConfirmationReason } from './form/submission.ts';
export { type OutboxControls, useOutbox } from './react/use-outbox.ts';
export { type OutboxEntryControls, useOutboxEntries, useOutboxEntry } from './react/use-outbox.ts';
export { type OutboxMutationResult, useOutboxMutation } from './react/use-outbox-mutation.ts';
