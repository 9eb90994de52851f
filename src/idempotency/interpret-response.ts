import { discard } from '../lib/discard.ts';
import type { IdempotencyProfile } from '../fetch/api.ts';
import type { Attempt } from '../fetch/attempt/attempt.ts';
import { callApp, isBoolean, type OnMistake, reporterOf } from '../lib/input/callback.ts';
import { whyForgotten } from './key.ts';
import { createError, NotSentError } from '../operation/errors.ts';
import type { Step } from '../operation/parts/submission.ts';
import type { Failure, HttpFailure } from '../policy/outcome.ts';

/**
 * What the API says, in its own way, of the failure of a keyed request; undefined when it is none.
 */
export async function interpretAnswer(
  attempt: Attempt,
  step: Step,
  response: Response,
  given: HttpFailure,
  isByStatus: boolean,
): Promise<HttpFailure | undefined> {
  const profile = attempt.request.api?.idempotency as IdempotencyProfile;
  const { alreadyDone } = profile;
  const mistakeIn = (option: string): OnMistake =>
    reporterOf(
      profile,
      `idempotency: ${option}`,
      process.env.NODE_ENV !== 'production' && 'it counts as not given',
    );
  const ask = (option: 'inProgress' | 'shouldRetry'): boolean | undefined =>
    callApp(() => profile[option]?.(response), isBoolean, mistakeIn(option));
  const isReplayed = says(response, 'idempotent-replayed', 'idempotency-replayed') === true;
  const isRunning =
    isByStatus && given.status === 409 && !isReplayed && (ask('inProgress') ?? true);
  const failure: HttpFailure = isRunning
    ? { ...given, inProgress: true, processed: 'unknown' }
    : given;
  if (alreadyDone) {
    const copy = response.clone();
    // It may throw on a body that is not what it reads, and may never say: then what has come counts.
    const asked = (async (): Promise<unknown> => alreadyDone(copy))().catch(() => false);
    const said = await attempt.awaitApp(asked).catch(() => undefined);
    discard(copy);
    if (callApp(() => said, isBoolean, mistakeIn('alreadyDone'))) return undefined;
  }
  const shouldRetry =
    ask('shouldRetry') ??
    failure.shouldRetry ??
    says(response, 'x-should-retry') ??
    (isReplayed ? false : undefined);
  const isNo = failure.processed === 'no';
  if (isReplayed && !isNo) attempt.request.operation.submission?.recordStuck();
  // What is stored is the answer to its key, also to the attempts before.
  const isStored = isReplayed || (!!profile.refusalIsStored && isStorable(failure.status));
  const isUnsure = isNo && !isStored && mayBeDone(attempt, step);
  if (isNo && !isUnsure && !isAskingAgain(failure.status)) refuse(attempt, step);
  return { ...failure, shouldRetry, processed: isUnsure ? 'unknown' : failure.processed };
}

/** What a header of an answer says, by the first of these names that it has. */
function says({ headers }: Response, ...names: readonly string[]): boolean | undefined {
  const said = names.map((name) => headers.get(name)).find((one) => one !== null);
  return said === 'true' ? true : said === 'false' ? false : undefined;
}

/** Refusals that the API itself gives: what stands before it, and asks for no key, gives others. */
const isStorable = (status: number): boolean => [400, 402, 409, 410, 422].includes(status);

/** Not by the outcome of this attempt: what an earlier one may have done, this one does not undo. */
function mayBeDone({ request, effect }: Attempt, { key }: Step): boolean {
  const { operation, name, steps } = request;
  return !!steps?.wasSent || operation.effects.mayBeDone({ request: name, key }, effect);
}

/** Answers that ask for the same again stand for nothing. */
const isAskingAgain = (status: number): boolean =>
  status === 401 || status === 425 || status === 429;

/**
 * Its API has refused it: nothing of this step was done, by none of its attempts. Where all that was
 * sent before this operation is known and was refused, nothing is left that may have been done.
 */
function refuse({ request, effect }: Attempt, step: Step): void {
  const { operation, steps } = request;
  const { submission, effects } = operation;
  // That of this attempt is one until it has settled.
  if (effect) effects.refuse(effect);
  step.isRefused = true;
  submission?.recordStep(step);
  const known = [...(steps?.known.values() ?? [])];
  const isAll = known.every(({ sentAt, isRefused }) => sentAt === undefined || isRefused);
  if (submission?.isEarlier(step.id) && isAll && !submission.isUnkeyed) submission.recordRefused();
}

/** @throws NotSentError when the request may have been done, and its API may have forgotten its key. */
export function refuseForgotten(attempt: Attempt, step: Step): void {
  const { request, context } = attempt;
  const { operation, api } = request;
  const { clock } = context;
  const { submission } = operation;
  // A key of its own, or one that follows a refusal, was made when it was first sent.
  const born =
    submission && !step.refusals ? submission : { createdAt: step.sentAt ?? clock.now() };
  const why = whyForgotten(born, api?.idempotency?.lifetimeMs ?? Infinity, clock);
  if (!why || !mayBeDone(attempt, step)) return;
  const outcome: Failure = { kind: why, processed: 'unknown' };
  const reason =
    why === 'expired'
      ? 'The request is too old to be sent again.'
      : 'The clock was set back, so it is not known whether the request is too old to be sent again.';
  const text = `${reason} It may have been done: look first, before you send it anew.`;
  const cause = operation.errors.lastError;
  throw createError(NotSentError, text, operation, outcome, cause, { request });
}
