import { reject } from '../lib/input/check.ts';
import { codeOf } from '../lib/input/made-by.ts';
import { shown, toUrl } from '../lib/input/url.ts';
import { warn } from '../lib/input/warn.ts';
import { headerOf, readPassed, refuse } from '../operation/error-info.ts';
import { stepTarget } from '../operation/parts/submission.ts';
import type { Operations } from '../operation/operations.ts';
import { prepare } from '../operation/time-limit.ts';
import { isIdempotentMethod, isSafeMethod } from '../policy/operation.ts';
import type { KeyCode, SubmissionCode } from './codes.ts';
import type { FetchContext, KeyedRequest, SentFacts } from './attempt/in-flight.ts';
import { type KeyedInit, type Passed, readHeaders } from './attempt/request.ts';

/** Gives a request its key, where it is to have one; a promise only where that takes time. */
export function addKey(
  context: FetchContext,
  facts: SentFacts,
  passed: Passed,
): Promise<KeyedRequest | undefined> | undefined {
  const { operation, api, own } = facts;
  const { parts, init } = passed;
  const profile = api?.idempotency;
  const keys = codeOf<KeyCode>(profile);
  const isAsked =
    own || operation.submission || init.idempotencyKey !== undefined || init.step !== undefined;
  if (isAsked && profile) return keys?.add(context, profile, facts, passed);
  const submissionCode = operation.submissionCode as SubmissionCode | undefined;
  if (submissionCode) submissionCode.noteUnkeyed(context.operations, facts, passed);
  else if (!isAsked) return keys?.noteStray(context, facts, parts.signal)?.then(() => undefined);
  else if (process.env.NODE_ENV !== 'production') noteUnkeyed(context.operations, facts, passed);
  return undefined;
}

/** Whether a request is to carry a key: it was given one or a name, or it may not be sent twice without. */
export function isKeyWanted(
  { operation, method, idempotent, own }: SentFacts,
  { idempotencyKey, step }: KeyedInit,
): boolean {
  const isAsked = !!own || idempotencyKey !== undefined || step !== undefined;
  if (isAsked || !(idempotent || isIdempotentMethod(method))) return true;
  if (operation.submission && !isSafeMethod(method)) operation.submission.isRepeatable = true;
  return false;
}

/** Notes that a request goes without the key that it is to carry: its API is not declared to take one. */
function noteUnkeyed(operations: Operations, facts: SentFacts, { parts, init }: Passed): void {
  if (process.env.NODE_ENV !== 'production') checkNames(facts, init);
  const { submission } = facts.operation;
  if (!isKeyWanted(facts, init)) return;
  // Somebody may have written it there by hand.
  const written = [...readHeaders(parts.request, init).values(), init.body];
  const isWritten = (key: string): boolean =>
    written.some((value) => typeof value === 'string' && value.includes(key));
  if (!submission || !isWritten(submission.key)) {
    refuseAfterKey(facts, isWritten);
    if (submission) submission.isUnkeyed = true;
  }
  if (process.env.NODE_ENV !== 'production' && (submission || init.idempotencyKey !== undefined))
    warnOfSilence(operations, facts);
}

/**
 * What may have been done with a key is not sent without it: a `match` that fails, or another version of
 * the app, no longer declares its API.
 *
 * @throws TypeError when that is so.
 */
function refuseAfterKey(facts: SentFacts, isWritten: (key: string) => boolean): void {
  const { operation, method, url, name } = facts;
  const { submission } = operation;
  const past = submission?.wasSent ? (submission.past ?? []) : [];
  const own = [...(operation.steps?.known.values() ?? [])];
  const target = stepTarget(method, url);
  const mayBeDone = [
    ...past.filter(({ sentAt, isRefused }) => sentAt !== undefined && !isRefused),
    ...own.filter(({ key }) => operation.effects.mayBeDone({ request: name, key })),
  ].filter((step) => step.target === target);
  if (mayBeDone.length === 0 || mayBeDone.some(({ key }) => isWritten(key))) return;
  if (submission) submission.isChanged = true;
  const remedy = process.env.NODE_ENV === 'production' ? '' : ' Declare its API as before.';
  refuse(
    new TypeError(
      `${shown(target)}: not sent without the idempotency key with which it may have been done.${remedy}`,
    ),
    facts,
  );
}

/** @throws TypeError when a key is given where a name is meant, or the other way round. */
export function checkNames(facts: SentFacts, { idempotencyKey, step }: KeyedInit): void {
  const { submission } = facts.operation;
  const refuseName = (option: keyof KeyedInit, value: unknown, allowed: string | false): never =>
    readPassed(() => reject('steady.fetch', option, value, allowed), facts);
  for (const [option, value] of Object.entries({ idempotencyKey, step }))
    if (value !== undefined && (typeof value !== 'string' || !value))
      refuseName(option as keyof KeyedInit, value, 'a text that is not empty');
  if (submission && idempotencyKey !== undefined)
    refuseName(
      'idempotencyKey',
      idempotencyKey,
      process.env.NODE_ENV !== 'production' &&
        `left out within a mutation, which has a key: give its requests names, json(url, { step: 'pay' })`,
    );
  if (!submission && step !== undefined)
    refuseName(
      'step',
      step,
      process.env.NODE_ENV !== 'production' &&
        `left out outside a mutation of Steadfetch: use the fetch or json that its mutationFn is given, or give an idempotencyKey`,
    );
}

function warnOfSilence(operations: Operations, { method, url }: SentFacts): void {
  const origin = toUrl(url)?.origin ?? '';
  warn(
    operations,
    `keys ${origin}`,
    `${method} ${url.replace(/[?#].*/s, '')} was to have an idempotency key, and no profile says how ${origin} ` +
      `takes one. So none is sent, and the request is not retried. Declare it: createSteadfetch({ apis: ` +
      `[{ match: '${origin}', idempotency: profiles.draft }] }).`,
    'idempotency.md',
  );
}

/** The code that an operation with a submission brings. */
export const submissionCode: SubmissionCode = {
  noteUnkeyed,
  noteStored({ submission, effects }, { answer, failure }) {
    if (failure.processed !== 'no' || !answer || !submission) return;
    // Of what went with another key, or with none, it says nothing.
    const isAll = submission.isRepeatable && !submission.isUnkeyed && !submission.past?.[0];
    if (!isAll || headerOf(answer, 'idempotent-replayed') !== 'true') return;
    submission.wasSent = false;
    effects.refuse({ request: '' });
  },
  whenKept(context, facts, signal) {
    const { submission } = facts.operation;
    return submission?.kept && prepare(context, facts, signal, submission.kept());
  },
};
