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

type Core = Pick<Enqueuer, 'submit'> & Pick<Entries, 'retry' | 'discard'>;
type Shown = ReturnType<typeof recordBehind>;

/** The parts of the mutationFn of a handler. */
interface Basics {
  readonly clock: Clock;
  readonly handler: string;
  readonly own: PolicyOptions;
  readonly definition: Omit<MutationDefinition, 'end' | 'extend' | keyof MutationExtras>;
}

/**
 * A mutationFn that hands its variables to the outbox, and settles with the entry. Retry now sends the
 * entry now, and Cancel discards it.
 */
export function createOutboxMutation(
  core: Core,
  { clock, handler, own: policy, definition }: Basics,
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
      const operation = operations.begin('mutation', { policy, submission });
      const mirror = new EntryMirror(core, submission.key, record, operation);
      const submitted = core.submit(handler, variables, submission, mirror.show);
      mirror.begin();
      try {
        return await submitted.delivered;
      } catch (error) {
        // A form that keeps the submission asks a user before it is submitted again.
        if (isSteadfetchError(error) && !error.operation.keyed) submission.recordUnkeyed();
        throw error;
      } finally {
        operation.mirror({ phase: { kind: 'ended', result: undefined } });
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

/** Shows the entry of a mutation as one operation, however many attempts that has. */
class EntryMirror {
  readonly #core: Core;
  readonly #key: string;
  readonly #record: Shown;
  readonly #operation: Operation;
  #latest: Progress;

  constructor(core: Core, key: string, record: Shown, operation: Operation) {
    this.#core = core;
    this.#key = key;
    this.#record = record;
    this.#operation = operation;
    this.#latest = { attempt: operation.attempt };
  }

  begin(): void {
    const operation = this.#operation;
    this.#record.show({
      operation,
      isOut: () => operation.phase.kind === 'sending',
      isReading: () => false,
      isIdle: () => false,
      cancel: (error) => void this.#discard(error),
    });
  }

  readonly show = (progress: Progress): void => {
    const shown = this.#operation;
    const { attempt, operation, retryAt, decision: decided, error } = progress;
    this.#latest = progress;
    if (operation?.effects.hasAny() && !shown.effects.hasAny()) shown.effects.beginForeign(true);
    const decision = decided && retryAt !== undefined ? { ...decided, retryAt } : undefined;
    const waiting = {
      kind: 'waiting',
      decision: decision ?? shown.errors.decision,
      // Where the disk fails, the entry stays as it is, and the state of the outbox says so.
      skip: () => void this.#core.retry(this.#key).catch(() => {}),
    } as const;
    const phase = operation?.phase ?? waiting;
    shown.mirror({
      attempt,
      phase: phase.kind === 'waiting' ? waiting : phase,
      pauses: operation?.pauses.list,
      lastError: operation ? undefined : error,
      decision,
    });
    shown.owner.onChange(shown);
  };

  async #discard(error: unknown): Promise<void> {
    try {
      await this.#core.discard(this.#key, error);
    } catch {
      // The entry is still there, and goes on.
      this.begin();
      this.show(this.#latest);
    }
  }
}
