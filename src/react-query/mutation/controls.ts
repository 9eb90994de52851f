import type { Mutation } from '@tanstack/react-query';
import { NotSentError, SteadfetchError } from '../../fetch/errors.ts';
import { reportOf } from '../../fetch/failure-report.ts';
import type { LiveOperation } from '../../fetch/live-operation.ts';
import { view } from '../../fetch/operations.ts';
import { warn } from '../../fetch/warn.ts';
import { type Failure, failures } from '../../policy/outcome.ts';
import { endCancelled } from '../end-cancelled.ts';
import { definitionBehind } from './definition.ts';
import { type MutationRun, refuseRun, runOf } from './execution.ts';
import type { Instance } from '../instance.ts';
import type { RetryControls } from '../status/status.ts';
import type { StatusStore } from '../status/store.ts';

/** The controls of the mutation with this id. */
export function mutationControlsOf(store: StatusStore<Mutation>, id: string): RetryControls {
  const act = (control: typeof cancelMutation) => (): void => {
    const mutation = store.find(id);
    if (!mutation) return;
    if (definitionBehind(mutation.options.mutationFn)) control(mutation, store.instance);
    else if (process.env.NODE_ENV !== 'production') warnOfPlain(store.instance);
  };
  return { retryNow: act(retryNow), cancel: act(cancelMutation) };
}

function warnOfPlain({ operations }: Instance): void {
  warn(
    operations,
    'plain controls',
    `Retry now and Cancel do nothing for a plain mutation: React Query can neither end its wait nor ` +
      `abort it. Make it with mutationOptions.`,
  );
}

/** Ends the wait or the pause of a mutation of ours. */
function retryNow(mutation: Mutation): void {
  const live = runOf(mutation)?.live;
  if (!live) return;
  for (const { go } of live.pauses) go();
  if (live.phase !== 'waiting') return;
  live.isUrged = true;
  live.skip?.();
}

/** Ends a mutation of ours, whatever it is at. */
export function cancelMutation(mutation: Mutation, { clock }: Instance): void {
  const definition = definitionBehind(mutation.options.mutationFn);
  if (!definition || mutation.state.status !== 'pending') return;
  const { operations, wasSent = () => false } = definition;
  const run = runOf(mutation);
  const live = run?.live ?? operations.begin('mutation', { attempt: 0 });
  if (live.phase === 'ended') return;
  const own = whyCancelled(live, run, wasSent());
  const error: unknown = own ?? live.lastError;
  const report = own
    ? { failure: own.outcome, method: own.operation.method }
    : reportOf(error, clock.now());
  endCancelled(operations, live, error, report);
  if (run) run.cancel(error);
  else refuseBeforeTurn(mutation, error);
}

/** Nothing when it ends in the error that it has. */
function whyCancelled(
  live: LiveOperation,
  run: MutationRun | undefined,
  wasSent: boolean,
): SteadfetchError | undefined {
  if (run?.isOut()) return cutOff(run);
  return !run || (live.attempt === 1 && live.phase === 'paused')
    ? notSent(live, wasSent)
    : undefined;
}

/** What was sent before is not undone by that. */
function notSent(live: LiveOperation, wasSent: boolean): NotSentError {
  const message = 'The mutation was cancelled before anything was sent.';
  const outcome: Failure = { kind: 'aborted', processed: wasSent ? 'unknown' : 'no' };
  return new NotSentError(message, { operation: view(live, {}), outcome });
}

function cutOff({ live, isReading }: MutationRun): SteadfetchError {
  const message =
    'The mutation was cancelled while it was under way. Whether it was done is not known.';
  return new SteadfetchError(message, {
    operation: view(live, isReading() ? { method: 'GET' } : {}),
    outcome: failures.aborted,
    cause: live.lastError,
  });
}

/** It waits behind another of its scope: there it is taken out of the row, to end at once. */
function refuseBeforeTurn(mutation: Mutation, error: unknown): void {
  refuseRun(mutation, error);
  const { options } = mutation;
  const { scope: _, ...free } = options;
  // Without its scope for this one question; for good, it would never leave the scope's list.
  mutation.setOptions(free);
  void mutation.continue().catch(() => {});
  mutation.setOptions(options);
}
