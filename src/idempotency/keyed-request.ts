import type { IdempotencyProfile } from '../fetch/api.ts';
import type { KeyCode } from '../fetch/codes.ts';
import type { FetchContext, KeyedRequest, SentFacts } from '../fetch/attempt/in-flight.ts';
import { type Passed, readHeaders } from '../fetch/attempt/request.ts';
import { checkNames, isKeyWanted, submissionCode } from '../fetch/keys.ts';
import type { Clock } from '../lib/clock.ts';
import { warn } from '../lib/input/warn.ts';
import { isRepeatable, refuse } from '../operation/error-info.ts';
import { type Step, type Steps, stepTarget } from '../operation/parts/submission.ts';
import type { Operation } from '../operation/operation.ts';
import type { Execution, Operations } from '../operation/operations.ts';
import { prepare } from '../operation/time-limit.ts';
import { boundaryOf, insertBodyKey, isSameBody, readBodyKey } from './body.ts';
import { interpretResponses } from './interpret-response.ts';
import { serializeKey } from './key.ts';
import { takeStep } from './steps.ts';

/** The code of keys, which a profile brings. */
export const keyCode: KeyCode = {
  by: 'defineIdempotency',
  read({ header, body }, { request }, init) {
    if (body !== undefined) return readBodyKey(init.body, body);
    return readHeaders(request, init).get(header) || undefined;
  },
  add: (context, profile, facts, passed) =>
    prepare(context, facts, passed.parts.signal, addKey(context, profile, facts, passed)),
  noteStray(context, facts, signal) {
    const keeping = noteStray(context.operations, facts);
    return keeping && prepare(context, facts, signal, keeping);
  },
};

async function addKey(
  { clock, operations }: FetchContext,
  profile: IdempotencyProfile,
  facts: SentFacts,
  passed: Passed,
): Promise<KeyedRequest | undefined> {
  const { operation } = facts;
  checkNames(facts, passed.init);
  if (!isKeyWanted(facts, passed.init)) return undefined;
  try {
    const reading = facts.own === undefined && readKeyOfRequest(profile, passed);
    const own = reading ? await reading : facts.own;
    const step = await identify(clock, operations, profile, { ...facts, own }, passed);
    if (operation.submission) operation.submission.isRepeatable = true;
    operation.submissionCode ??= submissionCode;
    return {
      init: withKey(profile, passed, step, own),
      step,
      ...interpretResponses(profile, step, operation, clock),
    };
  } catch (error) {
    return refuse(error, facts);
  }
}

/** The key that is in the body of a Request already: it is read from a copy. */
function readKeyOfRequest(
  { body }: IdempotencyProfile,
  { parts: { request }, init }: Passed,
): Promise<string | undefined> | undefined {
  if (body === undefined || !request || init.body != null) return undefined;
  return request
    .clone()
    .text()
    .then((text) => readBodyKey(text, body));
}

async function identify(
  clock: Clock,
  operations: Operations,
  profile: IdempotencyProfile,
  facts: SentFacts,
  { parts, init }: Passed,
): Promise<Step> {
  const { operation, method, url, own } = facts;
  const { submission, attempt } = operation;
  const body = async (): Promise<BodyInit | null> => {
    if (init.body != null || !parts.request || /^(GET|HEAD)$/.test(method))
      return init.body ?? null;
    // From a copy, because the next attempt may pass it again. Firefox has no `request.body`.
    const copy = parts.request.clone();
    // A form in it has another boundary each time.
    const isForm = copy.headers.get('content-type')?.includes('form-data');
    if (isForm) return copy.formData();
    // A key is put into text.
    return profile.body === undefined ? copy.arrayBuffer() : copy.text();
  };
  const step = await takeStep(stepsOf(operation, clock), {
    target: stepTarget(method, url),
    own: own ?? init.idempotencyKey,
    name: init.step,
    attempt,
    submission,
    body,
  });
  const { body: sent, sentAt } = step;
  if (process.env.NODE_ENV !== 'production' && sent !== undefined && sentAt !== undefined) {
    const isSame = async (): Promise<boolean> => isSameBody(sent, await body());
    if (!(await isSame().catch(() => true))) warnOfChange(operations, facts);
  }
  return step;
}

function stepsOf(operation: Operation, clock: Clock): Steps {
  const { submission } = operation;
  const wasSent = !!submission?.wasSent;
  const past = submission?.past ?? [];
  return (operation.steps ??= {
    known: new Map(past.map((step) => [step.id, { ...step, attempt: 0 }])),
    turn: Promise.resolve(),
    wasSent,
    aheadMs: clock.setBackMs?.() ?? 0,
  });
}

function withKey(
  profile: IdempotencyProfile,
  { parts, init }: Passed,
  { key, body = null }: Step,
  own: string | undefined,
): RequestInit {
  const headers = readHeaders(parts.request, init);
  // The form of a Request has a boundary of ours, which its body tells.
  if (parts.request && boundaryOf(body)) headers.delete('content-type');
  const sent = { ...init, headers, body };
  if (own) return sent;
  if (profile.body !== undefined) {
    const bare = serializeKey(key, { ...profile, format: 'raw' });
    return { ...sent, body: insertBodyKey(body, profile.body, bare) };
  }
  headers.set(profile.header, serializeKey(key, profile));
  return sent;
}

function warnOfChange(operations: Operations, { method, url }: SentFacts): void {
  const name = `${method} ${url}`.replace(/[?#].*/s, '');
  warn(
    operations,
    `bytes ${name}`,
    `${name}: this attempt was given another body than the first. One key has one payload, so the first ` +
      `is sent again. Make what changes (a time, a random number) before the mutation, not within it.`,
  );
}

/**
 * A write without a key, to an API that honours keys, which belongs to no operation. A mutationFn that
 * awaits something first and then uses the instance makes such a request, and so does code that has
 * nothing to do with it: which of them it was cannot be known. So of each submission whose mutationFn
 * may have made it, it is noted that it may not be sent again by itself. What has gone with its key before is
 * not sent without it. @returns what resolves once that is
 * kept, where somebody keeps it.
 */
function noteStray(operations: Operations, facts: SentFacts): Promise<unknown> | undefined {
  const { operation, api, own, method, url } = facts;
  if (!operation.isSingle || !api?.idempotency || own || isRepeatable(facts)) return undefined;
  const keeping: Promise<void>[] = [];
  for (const execution of operations.executions) {
    const { submission, isIdle } = execution;
    if (!isIdle()) continue;
    if (wasKeyed(execution, stepTarget(method, url)))
      refuse(
        new TypeError(
          `${method} ${url} has gone with the idempotency key of a mutation before, and now comes without it.` +
            (process.env.NODE_ENV === 'production' ? '' : ` It could be done twice. ${remedy}`),
        ),
        facts,
      );
    submission.isUnkeyed = true;
    if (submission.kept) keeping.push(submission.kept());
    if (process.env.NODE_ENV !== 'production') warnOfStray(operations, `${method} ${url}`);
  }
  return keeping.length > 0 ? Promise.allSettled(keeping) : undefined;
}

/** Whether an attempt before this one has sent the same request with its key: it may have been done. */
function wasKeyed({ operation, submission }: Execution, target: string): boolean {
  const { steps, attempt } = operation;
  const before = steps
    ? [...steps.known.values()].filter((step) => step.attempt < attempt)
    : (submission.past ?? []);
  return before.some(
    (step) => step.target === target && step.sentAt !== undefined && !step.isRefused,
  );
}

const remedy =
  'Send it with the fetch or json of the context of the mutationFn, also after an await.';

function warnOfStray(operations: Operations, request: string): void {
  const name = request.replace(/[?#].*/s, '');
  warn(
    operations,
    `stray ${name}`,
    `${name} was sent by the instance while a mutationFn ran, and without an idempotency key. If it is ` +
      `part of that mutation, send it with the fetch or json of the mutationFn's context, also after an ` +
      `await: only these give it the key that makes it safe to send again. Another client is given its ` +
      `rawFetch as fetch, or is linked where it is made: linkClient(steady, client).`,
    'clients.md',
  );
}
