import { focusManager, type Mutation } from '@tanstack/react-query';
import { warn } from '../../lib/input/warn.ts';
import { inDevelopment } from '../../lib/development.ts';
import { reportOf, toClientError } from '../../operation/error-info.ts';
import { NotSentError, SteadfetchError } from '../../operation/errors.ts';
import type { FailureReport } from '../../operation/facts.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Operations } from '../../operation/operations.ts';
import { type Failure, failures } from '../../policy/outcome.ts';
import { definitionBehind } from './definition.ts';
import { continueOutOfTurn } from './lifecycle.ts';
import { type MutationRun, recordOf } from './record.ts';

/** Ends a mutation of ours at any point of its life. */
export function cancelMutation(mutation: Mutation): void {
  const definition = definitionBehind(mutation.options.mutationFn);
  if (!definition || mutation.state.status !== 'pending') return;
  const { clock, operations } = definition.instance;
  const record = recordOf(mutation);
  const { run, submission } = record;
  const operation = run?.operation ?? operations.begin('mutation', { attempt: 0, submission });
  if (operation.phase.kind === 'ended') return;
  const own = cancelError(operation, run);
  const error: unknown = own ? toClientError(own, operation.route.at) : operation.errors.lastError;
  const report: FailureReport = own
    ? { failure: own.outcome, request: { method: own.operation.method } }
    : reportOf(error, clock.now());
  operation.cancel(error, report);
  if (run) return run.cancel(error);
  record.refuse(error);
  endBeforeTurn(mutation);
}

/** The error of a cancellation; undefined if the operation ends with the error that it has. */
function cancelError(
  operation: Operation,
  run: MutationRun | undefined,
): SteadfetchError | undefined {
  if (run?.isOut())
    return new SteadfetchError(
      'The mutation was cancelled while it was under way. Whether it was done is not known.',
      {
        operation: operation.view(run.isReading() ? { method: 'GET' } : {}),
        outcome: failures.aborted,
        cause: operation.errors.lastError,
      },
    );
  if (run && !(operation.attempt === 1 && operation.phase.kind === 'paused')) return undefined;
  // An earlier operation of its submission may have been done.
  const processed = operation.submission?.wasSent ? 'unknown' : 'no';
  const outcome: Failure = { kind: 'aborted', processed };
  const message = 'The mutation was cancelled before anything was sent.';
  return new NotSentError(message, { operation: operation.view(), outcome });
}

/** Continues a cancelled mutation that waits behind another of its scope, so that it ends at once. */
function endBeforeTurn(mutation: Mutation): void {
  continueOutOfTurn(mutation);
  if (focusManager.isFocused()) return;
  // In a hidden tab React Query continues no mutation, so this one ends once the tab is visible.
  const stop = focusManager.subscribe((isFocused) => {
    if (!isFocused) return;
    continueOutOfTurn(mutation);
    stop();
  });
}

/**
 * Ends a mutation of ours that left its cache, or whose session has ended. A mutation that runs without a request or a
 * wait may be the log-out itself, so it goes on: after the end of its session it sends nothing more, otherwise it sends
 * as with React Query alone, without retries. An entry of an outbox stays.
 */
export function endOwnMutation(mutation: Mutation, isSessionOver: boolean): void {
  const { instance, follow } = definitionBehind(mutation.options.mutationFn) ?? {};
  const record = recordOf(mutation);
  record.leave();
  const { run, isBegun } = record;
  if (!instance || (run && run.operation === instance.operations.current)) return;
  const isWaiting = run !== undefined || mutation.state.isPaused;
  if (follow && isBegun) {
    if (!isSessionOver) inDevelopment(() => warnOfKept(instance.operations));
  } else if (run?.isIdle()) endIdle(run, isSessionOver);
  else if (isWaiting || isSessionOver) cancelMutation(mutation);
}

function endIdle({ operation }: MutationRun, isSessionOver: boolean): void {
  if (isSessionOver) operation.leave();
  else operation.hurry();
}

function warnOfKept(operations: Operations): void {
  warn(
    operations,
    'kept entry',
    `A mutation of an outbox was removed from its cache (queryClient.clear()), and its entry stays: it is sent ` +
      `even if another user is logged in by then. At a log-out, call steady.endSession().`,
    'mutations/log-out.md',
  );
}
