import type { IdempotencyProfile } from '../fetch/api.ts';
import type { Attempt } from '../fetch/attempt/attempt.ts';
import type { SteadyRequest } from '../fetch/request.ts';
import { inDevelopment } from '../lib/development.ts';
import { discard } from '../lib/discard.ts';
import { callApp, isBoolean, type OnMistake, reporterOf } from '../lib/input/callback.ts';
import { createError, NotSentError } from '../operation/errors.ts';
import type { Step, Steps } from '../operation/parts/submission.ts';
import type { Failure, HttpFailure, Processed } from '../policy/outcome.ts';
import { whyForgotten } from './key.ts';
import { changeStep } from './steps.ts';
import { warnOfConflict } from './warnings.ts';

/**
 * The failure of a keyed request, as its API means it; undefined if the answer means success.
 *
 * @param isByStatus - The failure was read from the status alone.
 */
export async function interpretAnswer(
  attempt: Attempt,
  step: Step,
  response: Response,
  given: HttpFailure,
  isByStatus: boolean,
): Promise<HttpFailure | undefined> {
  const profile = profileOf(attempt.request);
  if (await meansDone(attempt, profile, response)) return undefined;
  const isReplayed = readFlag(response, 'idempotent-replayed', 'idempotency-replayed') === true;
  const call = (option: 'inProgress' | 'shouldRetry'): boolean | undefined =>
    callApp(() => profile[option]?.(response), isBoolean, mistakeIn(profile, option));
  const isConflict = isByStatus && given.status === 409 && !isReplayed;
  const running = isConflict ? call('inProgress') : false;
  inDevelopment(() => {
    if (running === undefined && !profile.inProgress && !mayBeDone(attempt, step.key))
      warnOfConflict(attempt.context.operations, attempt.request);
  });
  const shouldRetry =
    call('shouldRetry') ??
    given.shouldRetry ??
    readFlag(response, 'x-should-retry') ??
    (isReplayed ? false : undefined);
  if (running ?? true) return { ...given, inProgress: true, processed: 'unknown', shouldRetry };
  const processed = refusalOf(attempt, step, given, isReplayed, profile);
  return { ...given, processed, shouldRetry };
}

/** Whether a failure with this status shows that the step was not done, by this attempt or an earlier one. */
function refusalOf(
  attempt: Attempt,
  step: Step,
  { processed, status }: HttpFailure,
  isReplayed: boolean,
  { refusalIsStored }: IdempotencyProfile,
): Processed {
  if (processed !== 'no') {
    if (isReplayed) attempt.request.operation.submission?.recordStuck();
    return processed;
  }
  // A stored answer is the answer to its key, also to the attempts before.
  const isStored = isReplayed || (refusalIsStored && storable.includes(status));
  if (!isStored && mayBeDone(attempt, step.key)) return 'unknown';
  if (!transient.includes(status)) recordRefusal(attempt, step);
  return processed;
}

/** The profile of the API of a request that has a key. */
export const profileOf = ({ api }: SteadyRequest): IdempotencyProfile =>
  api?.idempotency as IdempotencyProfile;

/** Refusals that the API itself gives: a gateway before it, which asks for no key, gives others. */
const storable: readonly number[] = [400, 402, 409, 410, 422];

/** Refusals that ask for the same request again, and so do not stand for its key. */
const transient: readonly number[] = [401, 425, 429];

/** Whether the app says that this answer means success. */
async function meansDone(
  attempt: Attempt,
  profile: IdempotencyProfile,
  response: Response,
): Promise<boolean | undefined> {
  const { alreadyDone } = profile;
  if (!alreadyDone) return false;
  const copy = response.clone();
  // The app's function may throw on a body that it cannot read, or never settle: then it counts as not given.
  const answer = (async (): Promise<unknown> => alreadyDone(copy))();
  const said = await attempt.awaitApp(answer).catch(() => {});
  discard(copy);
  return callApp(() => said, isBoolean, mistakeIn(profile, 'alreadyDone'));
}

const mistakeIn = (profile: IdempotencyProfile, option: string): OnMistake =>
  reporterOf(profile, `idempotency: ${option}`, 'it counts as not set');

/** The flag in the first of these headers that an answer has. */
function readFlag({ headers }: Response, ...names: readonly string[]): boolean | undefined {
  const text = names.map((name) => headers.get(name)).find((value) => value !== null);
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

/** Whether an earlier attempt may have done it: this attempt does not undo that. */
export function mayBeDone({ request, effect }: Attempt, key: string | undefined): boolean {
  const { operation, name } = request;
  const { submission, effects } = operation;
  return !!submission?.wasSent || effects.mayBeDone({ request: name, key }, effect);
}

/**
 * Its API has refused a step: no attempt of it was done. If all steps that were sent before this operation were
 * refused, none of them may have been done.
 */
function recordRefusal({ request }: Attempt, { id, key }: Step): void {
  const { submission, effects } = request.operation;
  effects.refuse({ request: '', key });
  changeStep(request, { isRefused: true });
  const known = [...(request.steps as Steps).known.values()];
  const isAll = known.every(({ sentAt, isRefused }) => sentAt === undefined || isRefused);
  if (submission?.isEarlier(id) && isAll && !submission.isUnkeyed) submission.recordRefused();
}

/** @throws NotSentError when the request may have been done, and its API may have forgotten its key. */
export function refuseForgotten(attempt: Attempt, step: Step): void {
  const { request, context } = attempt;
  const { operation } = request;
  const { clock } = context;
  const { submission } = operation;
  // A key of its own, or one that follows a refusal, was made when it was first sent.
  const born =
    submission && !step.refusals ? submission : { createdAt: step.sentAt ?? clock.now() };
  const why = whyForgotten(born, profileOf(request).lifetimeMs ?? Infinity, clock);
  if (!why || !mayBeDone(attempt, step.key)) return;
  const outcome: Failure = { kind: why, processed: 'unknown' };
  const reason =
    why === 'expired'
      ? 'The request is too old to be sent again.'
      : 'The clock was set back, so it is not known whether the request is too old to be sent again.';
  const text = `${reason} It may have been done: look first, before you send it anew.`;
  const cause = operation.errors.lastError;
  throw createError(NotSentError, text, operation, outcome, cause, { request });
}
