import type { MutationFunction, MutationFunctionContext } from '@tanstack/react-query';
import {
  createSubmission,
  define,
  endOwnMutation,
  isSteadfetchError,
  recordBehind,
  type MutationDefinition,
  type MutationExtras,
  type Operation,
  type PolicyOptions,
} from '../../core/internal.ts';
import type { Clock } from '../../core/lib/clock.ts';
import type { Entries } from '../entries.ts';
import type { Enqueuer } from '../enqueue.ts';
import type { Progress } from '../receipts.ts';

/** The parts of the mutationFn of a handler. */
interface Basics {
  readonly own: PolicyOptions;
  readonly definition: Omit<MutationDefinition, 'end' | 'extend' | keyof MutationExtras>;
}

/**
 * A mutationFn that hands its variables to the outbox, and settles with the entry. Retry now sends the
 * entry now, and Cancel discards it.
 */
export function createOutboxMutation(
  core: Pick<Enqueuer, 'submit'> & Pick<Entries, 'retry' | 'discard'>,
  clock: Clock,
  handler: string,
  { own: policy, definition }: Basics,
): MutationFunction {
  const { operations } = definition.instance;
  const make = (extras: MutationExtras): MutationFunction => {
    // React Query calls it as a method of the mutation's options.
    const keep = async function (
      this: unknown,
      variables: unknown,
      given: MutationFunctionContext,
    ): Promise<unknown> {
      const record = recordBehind(this, given);
      const { submissionOf = () => createSubmission(clock) } = extras;
      const submission = record.begin(() => submissionOf(variables as never));
      const { key } = submission;
      const shown = operations.begin('mutation', { policy, submission });
      // Where the disk fails, the entry stays as it is, and the state of the outbox says so.
      const skip = (): void => void core.retry(key).catch(() => {});
      let latest: Progress = { attempt: shown.attempt };
      const submitted = core.submit(handler, variables, submission, (progress) => {
        latest = progress;
        show(shown, progress, skip);
      });
      const discard = async (error: unknown): Promise<void> => {
        try {
          await core.discard(key, error);
        } catch {
          // The entry is still there, and goes on.
          follow();
          show(shown, latest, skip);
        }
      };
      const follow = (): void => {
        record.show({
          operation: shown,
          isOut: () => shown.phase.kind === 'sending',
          isReading: () => false,
          isIdle: () => false,
          cancel: (error) => void discard(error),
        });
      };
      follow();
      try {
        return await submitted.delivered;
      } catch (error) {
        // A form that keeps the submission asks a user before it is submitted again.
        if (isSteadfetchError(error) && !error.operation.keyed) submission.recordUnkeyed();
        throw error;
      } finally {
        shown.mirror({ phase: { kind: 'ended', result: undefined } });
      }
    };
    return define(keep, {
      ...extras,
      ...definition,
      end: endOwnMutation,
      extend: (more) => make({ ...extras, ...more }),
    });
  };
  return make({});
}

/** A mutation shows its entry as one operation, however many attempts that has. */
function show(
  shown: Operation,
  { attempt, operation, retryAt, decision: decided, error }: Progress,
  skip: () => void,
): void {
  if (operation?.effects.hasAny() && !shown.effects.hasAny()) shown.effects.beginForeign(true);
  const decision = decided && retryAt !== undefined ? { ...decided, retryAt } : undefined;
  const waiting = { kind: 'waiting', decision: decision ?? shown.errors.decision, skip } as const;
  const phase = operation?.phase ?? waiting;
  shown.mirror({
    attempt,
    phase: phase.kind === 'waiting' ? waiting : phase,
    pauses: operation?.pauses.list,
    lastError: operation ? undefined : error,
    decision,
  });
  shown.notifyOwner();
}
