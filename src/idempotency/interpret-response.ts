import type { IdempotencyProfile } from '../fetch/api.ts';
import type { KeyedRequest, SentFacts } from '../fetch/attempt/in-flight.ts';
import { callApp, isBoolean, type OnMistake, reporterOf } from '../lib/input/callback.ts';
import type { Clock } from '../lib/clock.ts';
import { isKeyExpired } from './key.ts';
import { reportFailure } from '../operation/error-info.ts';
import { NotSentError } from '../operation/errors.ts';
import type { Step, Steps } from '../operation/parts/submission.ts';
import type { Operation } from '../operation/operation.ts';
import type { Failure } from '../policy/outcome.ts';

/** Reads the answers to a keyed request as its API means them. */
export function interpretResponses(
  profile: IdempotencyProfile,
  step: Step,
  operation: Operation,
  clock: Clock,
): Omit<KeyedRequest, 'init' | 'step'> {
  const { lifetimeMs = Infinity, alreadyDone } = profile;
  // An answer may come when its operation has ended, which forgets them.
  const { steps } = operation;
  // Not by the outcome of this attempt: what an earlier one may have done, this one does not undo.
  const mayBeDone = ({ name, effect }: SentFacts): boolean =>
    !!steps?.wasSent || operation.effects.mayBeDone({ request: name, key: step.key }, effect);
  const mistakeIn = (option: string): OnMistake =>
    reporterOf(
      profile,
      `idempotency: ${option}`,
      process.env.NODE_ENV !== 'production' && 'it counts as not given',
    );
  const ask = (option: 'inProgress' | 'shouldRetry', response: Response): boolean | undefined =>
    callApp(() => profile[option]?.(response), isBoolean, mistakeIn(option));

  return {
    start(facts) {
      const now = clock.now();
      const { createdAt = NaN } = operation.submission ?? {};
      const madeAt = step.refusals ? NaN : createdAt + (steps?.aheadMs ?? 0);
      const bornAt = madeAt || (step.sentAt ?? now);
      if (isKeyExpired(bornAt, lifetimeMs, now) && mayBeDone(facts)) throw expired(facts);
      step.sentAt ??= now;
      step.isRefused = undefined;
      operation.submission?.keep?.(step, lifetimeMs);
    },
    isInProgress: (response) => response.status === 409 && (ask('inProgress', response) ?? true),
    async interpret(response, failure, facts, signal) {
      if (alreadyDone) {
        const copy = response.clone();
        // It may throw on a body that is not what it reads, and may never say: then what has come counts.
        const asked = (async (): Promise<unknown> => alreadyDone(copy))().catch(() => false);
        const said = await Promise.race([asked, whenAborted(signal)]);
        if (callApp(() => said, isBoolean, mistakeIn('alreadyDone'))) return undefined;
      }
      const isStored = response.headers.get('idempotent-replayed') === 'true';
      const shouldRetry =
        ask('shouldRetry', response) ?? failure.shouldRetry ?? (isStored ? false : undefined);
      const isNo = failure.processed === 'no';
      // What is stored is the answer to its key, also to the attempts before.
      const isUnsure = isNo && !isStored && mayBeDone(facts);
      if (isNo && !isUnsure && !isAskingAgain(failure.status)) refuse(facts, step, steps);
      return { ...failure, shouldRetry, processed: isUnsure ? 'unknown' : failure.processed };
    },
    succeed() {
      step.isDone = true;
      operation.submission?.keep?.(step);
    },
  };
}

/** Answers that ask for the same again stand for nothing. */
const isAskingAgain = (status: number): boolean =>
  status === 401 || status === 425 || status === 429;

/**
 * Its API has refused it: nothing of this step was done, by none of its attempts. Where all that was
 * sent before this operation is known and was refused, nothing is left that may have been done.
 */
function refuse({ operation, effect }: SentFacts, step: Step, steps: Steps | undefined): void {
  const { submission, effects } = operation;
  // That of this attempt is one until it has settled.
  if (effect) effects.refuse(effect);
  step.isRefused = true;
  submission?.keep?.(step);
  const isKnown = submission?.past?.some(({ id }) => id === step.id);
  const known = [...(steps?.known.values() ?? [])];
  const isAll = known.every(({ sentAt, isRefused }) => sentAt === undefined || isRefused);
  if (submission && isKnown && isAll && !submission.isUnkeyed) submission.wasSent = false;
}

function expired(facts: SentFacts): NotSentError {
  const { operation } = facts;
  const outcome: Failure = { kind: 'expired', processed: 'unknown' };
  const error = new NotSentError(
    'The request is too old to be sent again. It may have been done: look first, before you send it anew.',
    { operation: operation.view(facts), outcome, cause: operation.lastError },
  );
  reportFailure(error, { ...facts, failure: outcome });
  return error;
}

const whenAborted = (signal: AbortSignal): Promise<false> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(false);
    signal.addEventListener('abort', () => resolve(false), { once: true });
  });
