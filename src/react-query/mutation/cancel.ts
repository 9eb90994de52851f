import { focusManager, type Mutation } from '@tanstack/react-query';
import { reportOf, toClientError } from '../../operation/error-info.ts';
import { NotSentError, SteadfetchError } from '../../operation/errors.ts';
import type { FailureReport } from '../../operation/facts.ts';
import type { Operation } from '../../operation/operation.ts';
import { type Failure, failures } from '../../policy/outcome.ts';
import type { Instance } from '../instance.ts';
import { definitionBehind } from './definition.ts';
import { continueOutOfTurn, type MutationRun, refuseRun, runOf } from './execution.ts';

/** Ends a mutation of ours, whatever it is at. */
export function cancelMutation(mutation: Mutation, { clock }: Instance): void {
  const definition = definitionBehind(mutation.options.mutationFn);
  if (!definition || mutation.state.status !== 'pending') return;
  const { operations, wasSent = () => false } = definition;
  const run = runOf(mutation);
  const operation = run?.operation ?? operations.begin('mutation', { attempt: 0 });
  if (operation.phase.kind === 'ended') return;
  const own = whyCancelled(operation, run, wasSent());
  const error: unknown = own
    ? toClientError(own, operation.route.at?.sent)
    : operation.errors.lastError;
  const report: FailureReport = own
    ? { failure: own.outcome, request: { method: own.operation.method } }
    : reportOf(error, clock.now());
  operation.cancel(error, report);
  if (run) run.cancel(error);
  else refuseBeforeTurn(mutation, error);
}

/** Nothing when it ends in the error that it has. */
function whyCancelled(
  operation: Operation,
  run: MutationRun | undefined,
  wasSent: boolean,
): SteadfetchError | undefined {
  if (run?.isOut()) return cutOff(run);
  return !run || (operation.attempt === 1 && operation.phase.kind === 'paused')
    ? notSent(operation, wasSent)
    : undefined;
}

/** What was sent before is not undone by that. */
function notSent(operation: Operation, wasSent: boolean): NotSentError {
  const message = 'The mutation was cancelled before anything was sent.';
  const outcome: Failure = { kind: 'aborted', processed: wasSent ? 'unknown' : 'no' };
  return new NotSentError(message, { operation: operation.view(), outcome });
}

function cutOff({ operation, isReading }: MutationRun): SteadfetchError {
  const message =
    'The mutation was cancelled while it was under way. Whether it was done is not known.';
  return new SteadfetchError(message, {
    operation: operation.view(isReading() ? { method: 'GET' } : {}),
    outcome: failures.aborted,
    cause: operation.errors.lastError,
  });
}

/** It waits behind another of its scope: there it is taken out of the row, to end at once. */
function refuseBeforeTurn(mutation: Mutation, error: unknown): void {
  refuseRun(mutation, error);
  continueOutOfTurn(mutation);
  if (focusManager.isFocused()) return;
  // In a hidden tab React Query lets nothing go on: there it ends once the tab is seen.
  const stop = focusManager.subscribe((isFocused) => {
    if (!isFocused) return;
    continueOutOfTurn(mutation);
    stop();
  });
}
