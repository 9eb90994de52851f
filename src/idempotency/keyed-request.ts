import type { IdempotencyProfile } from '../fetch/api.ts';
import type { Extension } from '../fetch/extension.ts';
import type { FetchContext } from '../fetch/attempt/attempt.ts';
import { readHeaders, requestOf } from '../fetch/init.ts';
import { checkNames, isKeyAsked, isKeyWanted, submissionExtension } from '../fetch/keys.ts';
import type { SteadyRequest } from '../fetch/request.ts';
import { warn } from '../lib/input/warn.ts';
import { refuse } from '../operation/error-info.ts';
import {
  type FixedBody,
  type Step,
  type Steps,
  type Submission,
  stepTarget,
} from '../operation/parts/submission.ts';
import type { Operation } from '../operation/operation.ts';
import type { Execution, Operations } from '../operation/operations.ts';
import { prepare } from '../operation/time-limit.ts';
import {
  boundaryOf,
  insertBodyKey,
  isSameBody,
  putFields,
  readBodyKey,
  takeFields,
  type TakenFields,
} from './body.ts';
import { interpretAnswer, refuseForgotten } from './interpret-response.ts';
import { serializeKey } from './key.ts';
import { bareKey, takeStep } from './steps.ts';

/** The extension that a profile brings: gives requests their idempotency keys, and fixes their bytes. */
export const keyExtension: Extension & { readonly by: 'defineIdempotency' } = {
  by: 'defineIdempotency',
  inspect({ idempotency }, { input, init }) {
    const { header, body } = idempotency as IdempotencyProfile;
    if (body !== undefined) return { ownKey: readBodyKey(init.body, body) };
    return { ownKey: readHeaders(input, init).get(header) || undefined };
  },
  prepare(context, request, init) {
    const { operation, signal } = request;
    if (isKeyAsked(request)) return prepare(context, request, signal, addKey(context, request));
    const keeping = operation.submissionCode ? undefined : recordStray(context.operations, request);
    return (
      keeping &&
      prepare(
        context,
        request,
        signal,
        keeping.then(() => init),
      )
    );
  },
  sign(attempt) {
    const { context, request } = attempt;
    const { operation, step } = request;
    if (!step) return undefined;
    refuseForgotten(attempt, step);
    step.sentAt ??= context.clock.now();
    step.isRefused = undefined;
    operation.submission?.recordSent(step, profileOf(request));
    return undefined;
  },
  async classify(attempt, response, failure, shown) {
    const { step } = attempt.request;
    if (failure?.kind !== 'http' || !step) return failure;
    return interpretAnswer(attempt, step, response, failure, failure === shown);
  },
  end({ request }, { kind }) {
    const { operation, step } = request;
    if (!step) return;
    // Its headers may have been good, and its body is not: then it may be sent again, with its key.
    step.isDone = kind === 'ok';
    if (step.isDone) operation.submission?.recordStep(step);
  },
};

async function addKey({ operations }: FetchContext, request: SteadyRequest): Promise<RequestInit> {
  const { operation } = request;
  checkNames(request);
  if (!isKeyWanted(request)) return request.init;
  try {
    const reading = request.ownKey === undefined && readKeyOfRequest(request);
    const ownKey = reading ? await reading : request.ownKey;
    const { step, body } = await identify(operations, request, ownKey);
    for (const submission of submissionsOf(operations, operation, step))
      submission.recordRepeatable();
    operation.useSubmissionCode(submissionExtension);
    const init = withKey(request, step, ownKey, body);
    request.setStep(step, stepsOf(operation));
    return init;
  } catch (error) {
    return refuse(error, request);
  }
}

/** The submission that a request goes with the key of: its operation's; or, of no operation, that of a mutationFn that runs. */
function submissionsOf(
  { executions }: Operations,
  { submission }: Operation,
  { key }: Step,
): Submission[] {
  if (submission) return [submission];
  return [...executions]
    .map((execution) => execution.submission)
    .filter((running) => running.key === bareKey(key));
}

/** The key that is in the body of a Request already: it is read from a copy. */
function readKeyOfRequest(request: SteadyRequest): Promise<string | undefined> | undefined {
  const { body } = profileOf(request);
  const given = requestOf(request.input);
  if (body === undefined || !given || request.init.body != null) return undefined;
  return given
    .clone()
    .text()
    .then((text) => readBodyKey(text, body));
}

async function identify(
  operations: Operations,
  request: SteadyRequest,
  ownKey: string | undefined,
): Promise<{ readonly step: Step; readonly body: FixedBody }> {
  const { operation, input, init, method, url } = request;
  const { submission, attempt } = operation;
  const given = requestOf(input);
  const { body: keyField, fresh = [] } = profileOf(request);
  const read = async (): Promise<BodyInit | null> => {
    if (init.body != null || !given || /^(GET|HEAD)$/.test(method)) return init.body ?? null;
    // From a copy, because the next attempt may pass it again. Firefox has no `request.body`.
    const copy = given.clone();
    // A form in it has another boundary each time.
    const type = copy.headers.get('content-type') ?? '';
    if (type.includes('form-data')) return copy.formData();
    // A key is put into text, and a field is taken out of it.
    const isText = keyField !== undefined || (fresh.length > 0 && type.includes('json'));
    return isText ? copy.text() : copy.arrayBuffer();
  };
  // What is used up by one request is no part of what its key stands for.
  let taken: TakenFields | undefined;
  const body = async (): Promise<BodyInit | null> =>
    (taken ??= takeFields(await read(), fresh)).body;
  const step = await takeStep(stepsOf(operation), {
    target: stepTarget(method, url),
    own: ownKey ?? init.idempotencyKey,
    name: init.step,
    attempt,
    submission,
    body,
  });
  const { body: sent, sentAt } = step;
  if (process.env.NODE_ENV !== 'production' && sent !== undefined && sentAt !== undefined) {
    const isSame = async (): Promise<boolean> => isSameBody(sent, await body());
    if (!(await isSame().catch(() => true))) warnOfChange(operations, request);
  }
  if (fresh.length > 0) await body();
  return { step, body: taken ? putFields(step.body ?? null, taken) : (step.body ?? null) };
}

function stepsOf(operation: Operation): Steps {
  const { submission } = operation;
  const wasSent = !!submission?.wasSent;
  const past = submission?.past ?? [];
  return (
    operation.steps ??
    operation.keepSteps({
      known: new Map(past.map((step) => [step.id, { ...step, attempt: 0 }])),
      turn: Promise.resolve(),
      wasSent,
    })
  );
}

function withKey(
  request: SteadyRequest,
  { key }: Step,
  ownKey: string | undefined,
  body: FixedBody,
): RequestInit {
  const { input, init } = request;
  const profile = profileOf(request);
  const headers = readHeaders(input, init);
  // The form of a Request has a boundary of ours, which its body tells.
  if (requestOf(input) && boundaryOf(body)) headers.delete('content-type');
  const sent = { ...init, headers, body };
  if (ownKey) return sent;
  if (profile.body !== undefined) {
    const bare = serializeKey(key, { ...profile, format: 'raw' });
    return { ...sent, body: insertBodyKey(body, profile.body, bare) };
  }
  headers.set(profile.header, serializeKey(key, profile));
  return sent;
}

/** The profile that has brought this extension. */
const profileOf = ({ api }: SteadyRequest): IdempotencyProfile =>
  api?.idempotency as IdempotencyProfile;

function warnOfChange(operations: Operations, { method, url }: SteadyRequest): void {
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
function recordStray(operations: Operations, request: SteadyRequest): Promise<unknown> | undefined {
  const { operation, method, url } = request;
  if (!operation.given.isSingle || request.isRepeatable) return undefined;
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
        request,
      );
    submission.recordUnkeyed();
    const stored = submission.stored();
    if (stored) keeping.push(stored);
    if (process.env.NODE_ENV !== 'production') warnOfStray(operations, `${method} ${url}`);
  }
  return keeping.length > 0 ? Promise.allSettled(keeping) : undefined;
}

/** Whether an attempt before this one has sent the same request with its key: it may have been done. */
function wasKeyed({ operation, submission }: Execution, target: string): boolean {
  const { steps, attempt } = operation;
  const before = steps
    ? [...steps.known.values()].filter((step) => step.attempt < attempt)
    : submission.past;
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
