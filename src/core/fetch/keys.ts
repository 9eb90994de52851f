import { type DevelopmentText, inDevelopment } from '../lib/development.ts';
import { reject } from '../lib/input/check.ts';
import { shown, toUrl } from '../lib/input/url.ts';
import { warn } from '../lib/input/warn.ts';
import { readPassed, refuse, headerOf } from '../operation/error-info.ts';
import { stepTarget } from '../operation/parts/submission.ts';
import type { Operation } from '../operation/operation.ts';
import type { Operations } from '../operation/operations.ts';
import { untilReady } from '../operation/time-limit.ts';
import { isIdempotentMethod, isSafeMethod } from '../policy/operation.ts';
import type { SubmissionExtension } from './extension.ts';
import { type KeyedInit, readHeaders } from './init.ts';
import type { SteadyRequest } from './request.ts';

/** Whether a request was given a key or a name, or belongs to an operation whose requests have keys. */
export function isKeyAsked({ operation, ownKey, init }: SteadyRequest): boolean {
  return !!(ownKey || operation.submission) || isNamed(init);
}

const isNamed = ({ idempotencyKey, step }: KeyedInit): boolean =>
  idempotencyKey !== undefined || step !== undefined;

/** Whether a request must carry a key: it was given one or a name, or it must not be sent twice without one. */
export function isKeyWanted({
  operation,
  method,
  idempotent,
  ownKey,
  init,
}: SteadyRequest): boolean {
  if (ownKey || isNamed(init) || !(idempotent || isIdempotentMethod(method))) return true;
  if (operation.submission && !isSafeMethod(method)) operation.submission.recordRepeatable();
  return false;
}

/**
 * In development: checks the key or the name of a lone request whose API is not declared to take keys.
 *
 * @throws TypeError when a key is given where a name is meant, or the other way round.
 */
export function checkUnkeyed(operations: Operations, request: SteadyRequest): void {
  const { api, init, operation } = request;
  if (api?.idempotency || operation.submissionCode || !isKeyAsked(request)) return;
  checkNames(request);
  if (isKeyWanted(request) && init.idempotencyKey !== undefined) warnOfSilence(operations, request);
}

/** Records that a request of a submission is sent without a key, because its API takes none. */
function recordUnkeyed(operations: Operations, request: SteadyRequest): void {
  inDevelopment(() => checkNames(request));
  const { operation, passed, init } = request;
  const { submission } = operation;
  if (!isKeyWanted(request)) return;
  // The app may have written the key into the request itself.
  const written = [...readHeaders(passed, init).values(), init.body];
  const isWritten = (key: string): boolean =>
    written.some((value) => typeof value === 'string' && value.includes(key));
  if (submission && isWritten(submission.key)) submission.recordRepeatable();
  else {
    const remedy = inDevelopment(() => ' Declare its API as before.') ?? '';
    refuseAfterKey(request, operation, remedy, isWritten);
    submission?.recordUnkeyed();
  }
  if (process.env.NODE_ENV !== 'production' && (submission || init.idempotencyKey !== undefined))
    warnOfSilence(operations, request);
}

/**
 * Refuses to send a request without a key if an earlier attempt may have done it with one. This happens if its API is no
 * longer declared (a `match` fails, or the app has another version), or if it does not use the mutation's context.
 *
 * @param isWritten - Whether the app has written this key into the request itself.
 * @throws TypeError when that is so.
 */
export function refuseAfterKey(
  request: SteadyRequest,
  { steps, submission, attempt }: Operation,
  remedy: string,
  isWritten: (key: string) => boolean = () => false,
): void {
  const target = stepTarget(request.method, request.url);
  const known = steps
    ? [...steps.known.values()].filter((step) => step.attempt < attempt)
    : (submission?.past ?? []);
  const before = known.filter(
    (step) => step.target === target && step.sentAt !== undefined && !step.isRefused,
  );
  if (before.length === 0 || before.some(({ key }) => isWritten(key))) return;
  submission?.recordChanged();
  refuse(
    new TypeError(
      `${shown(target)}: not sent without the idempotency key with which it may have been done.${remedy}`,
    ),
    request,
  );
}

/** @throws TypeError when a key is given where a name is meant, or the other way round. */
export function checkNames(request: SteadyRequest): void {
  const { idempotencyKey, step } = request.init;
  const { submission } = request.operation;
  const refuseName = (option: keyof KeyedInit, value: unknown, allowed: DevelopmentText): never =>
    readPassed(() => reject('steady.fetch', option, value, allowed), request);
  for (const [option, value] of Object.entries({ idempotencyKey, step }))
    if (value !== undefined && (typeof value !== 'string' || !value))
      refuseName(option as keyof KeyedInit, value, 'a text that is not empty');
  if (submission && idempotencyKey !== undefined)
    refuseName(
      'idempotencyKey',
      idempotencyKey,
      inDevelopment(
        () =>
          `left out within a mutation, which has a key: give its requests names, json(url, { step: 'pay' })`,
      ),
    );
  if (!submission && step !== undefined)
    refuseName(
      'step',
      step,
      inDevelopment(
        () =>
          `left out outside a mutation of Steadfetch: use the fetch or json that its mutationFn is given, or give an idempotencyKey`,
      ),
    );
}

function warnOfSilence(operations: Operations, { method, url, api }: SteadyRequest): void {
  if (api?.isKeyless) return;
  const origin = toUrl(url)?.origin ?? '';
  warn(
    operations,
    `keys ${origin}`,
    `${method} ${url.replace(/[?#].*/s, '')} was to have an idempotency key, and no profile says how ${origin} ` +
      `takes one. So none is sent, and the request is not retried. Declare it: createSteadfetch({ apis: ` +
      `[{ match: '${origin}', idempotency: profiles.draft }] }); or idempotency: 'none', if it takes no keys.`,
    'idempotency.md',
  );
}

/** The extension for operations with a submission, or with a key that was sent. */
export const submissionExtension: SubmissionExtension = {
  by: 'submission',
  prepare({ operations }, request) {
    const isKeyed = request.api?.idempotency && isKeyAsked(request);
    if (!isKeyed) recordUnkeyed(operations, request);
    return undefined;
  },
  // Sent only after its submission is stored.
  sign({ context, request }) {
    const { submission } = request.operation;
    const stored = submission?.stored();
    return stored && untilReady(context, request, request.signal, stored);
  },
  async classify({ request, effect }, _response, failure) {
    const { submission, effects } = request.operation;
    // This request was refused, but another one of the mutation may have been done.
    const isUnknown = failure?.processed === 'no' && submission && effects.isUnknown(effect);
    return isUnknown ? { ...failure, processed: 'unknown' } : failure;
  },
  recordStored({ submission, effects }, { answer, failure }) {
    if (!answer || !submission || headerOf(answer, 'idempotent-replayed') !== 'true') return;
    if (failure.processed !== 'no') return submission.recordStuck();
    // The refusal does not cover requests with another key, or without one.
    const isAll = submission.isRepeatable && !submission.isUnkeyed && !submission.past[0];
    if (!isAll) return;
    submission.recordRefused();
    effects.refuse({ request: '' });
  },
};
