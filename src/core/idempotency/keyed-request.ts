import type { IdempotencyProfile } from '../fetch/api.ts';
import type { Extension } from '../fetch/extension.ts';
import { inGivenForm, readHeaders } from '../fetch/init.ts';
import {
  checkNames,
  isKeyAsked,
  isKeyWanted,
  submissionExtension,
  refuseAfterKey,
} from '../fetch/keys.ts';
import type { SteadyRequest } from '../fetch/request.ts';
import { inDevelopment } from '../lib/development.ts';
import { refuse } from '../operation/error-info.ts';
import type { Operation } from '../operation/operation.ts';
import type { Operations } from '../operation/operations.ts';
import { type FixedBody, type Step, stepTarget } from '../operation/parts/submission.ts';
import { untilReady } from '../operation/time-limit.ts';
import type { Processed } from '../policy/outcome.ts';
import { boundaryOf, isSameBody, putFields, type TakenFields, takeFields } from './body.ts';
import { interpretAnswer, profileOf, refuseForgotten } from './interpret-response.ts';
import { insertBodyText, readBodyText } from './json-body.ts';
import { serializeKey } from './key.ts';
import { bareKey, changeStep, KeyedSteps } from './steps.ts';
import { warnOfChange, warnOfStray } from './warnings.ts';

/** The extension that a profile brings: gives requests their idempotency keys, and fixes their bytes. */
export const keyExtension: Extension & { readonly by: 'defineIdempotency' } = {
  by: 'defineIdempotency',
  inspect({ idempotency }, { passed, init }) {
    const { header, body } = idempotency as IdempotencyProfile;
    if (body !== undefined) return { ownKey: readBodyText(init.body, body) };
    return { ownKey: readHeaders(passed, init).get(header) || undefined };
  },
  prepare(context, request, init) {
    const { operations } = context;
    const work = isKeyAsked(request)
      ? addKey(operations, request)
      : recordStray(operations, request)?.then(() => init);
    return work && untilReady(context, request, request.signal, work);
  },
  sign(attempt) {
    const { context, request } = attempt;
    if (!request.step) return undefined;
    refuseForgotten(attempt, request.step);
    const sentAt = request.step.sentAt ?? context.clock.now();
    changeStep(request, { sentAt, isRefused: undefined }, profileOf(request));
    return undefined;
  },
  async classify(attempt, response, failure, shown) {
    const { step } = attempt.request;
    if (failure?.kind !== 'http' || !step) return failure;
    return interpretAnswer(attempt, step, response, failure, failure === shown);
  },
  end({ request }, { kind }) {
    // If its headers were good and its body was not, it may be sent again, with its key.
    changeStep(request, { isDone: kind === 'ok' || undefined });
  },
};

async function addKey(operations: Operations, request: SteadyRequest): Promise<RequestInit> {
  const { operation } = request;
  checkNames(request);
  if (!isKeyWanted(request)) return request.init;
  try {
    const ownKey = request.ownKey ?? (await readKeyOfRequest(request));
    const { step, body } = await identify(operations, request, ownKey);
    const { submission } = operation;
    // Of no operation, it may carry the key of a mutation whose mutationFn is running.
    const running = [...operations.executions].map((execution) => execution.submission);
    const own = submission ? [submission] : running.filter(({ key }) => key === bareKey(step.key));
    for (const one of own) one.recordRepeatable();
    operation.useSubmissionCode(submissionExtension);
    const init = withKey(request, step, ownKey, body);
    request.setStep(step, stepsOf(operation));
    return init;
  } catch (error) {
    return refuse(error, request);
  }
}

/** The key that is in the body of a Request already. */
async function readKeyOfRequest(request: SteadyRequest): Promise<string | undefined> {
  const { body } = profileOf(request);
  const { passed } = request;
  if (body === undefined || !passed || request.init.body != null) return undefined;
  return readBodyText(await passed.clone().text(), body);
}

/** The step that a request is, and the body to send. */
async function identify(
  operations: Operations,
  request: SteadyRequest,
  ownKey: string | undefined,
): Promise<{ readonly step: Step; readonly body: FixedBody }> {
  const { operation, init, method, url } = request;
  const { fresh } = profileOf(request);
  let taken: TakenFields | undefined;
  const body = async (): Promise<BodyInit | null> =>
    (taken ??= takeFields(await readBody(request), fresh)).body;
  const target = stepTarget(method, url);
  const own = ownKey ?? init.idempotencyKey;
  const { attempt, effects } = operation;
  const processedWith = (key: string): Processed | undefined => effects.processedWith(key);
  const asked = { target, own, name: init.step, attempt, processedWith, body };
  const step = await stepsOf(operation).take(asked);
  const fixed = step.body ?? null;
  if (step.sentAt !== undefined)
    inDevelopment(() => void checkSame(operations, request, fixed, body));
  if (fresh) await body();
  return { step, body: taken ? putFields(fixed, taken) : fixed };
}

async function checkSame(
  operations: Operations,
  request: SteadyRequest,
  fixed: FixedBody,
  body: () => Promise<BodyInit | null>,
): Promise<void> {
  const isSame = async (): Promise<boolean> => isSameBody(fixed, await body());
  if (!(await isSame().catch(() => true))) warnOfChange(operations, request);
}

/** The body as it was passed. One of a Request is read from a copy, because the next attempt may pass it again. */
async function readBody(request: SteadyRequest): Promise<BodyInit | null> {
  const { passed, init, method } = request;
  if (init.body != null || !passed || /^(GET|HEAD)$/.test(method)) return init.body ?? null;
  // Firefox has no `request.body`.
  const copy = passed.clone();
  const type = copy.headers.get('content-type');
  // The text of a form has another boundary each time.
  if (type?.includes('form-data')) return copy.formData();
  const { body: keyField, fresh } = profileOf(request);
  const isText = keyField !== undefined || (fresh && type?.includes('json'));
  return isText ? copy.text() : copy.arrayBuffer();
}

const stepsOf = (operation: Operation): KeyedSteps =>
  (operation.steps as KeyedSteps | undefined) ??
  operation.keepSteps(new KeyedSteps(operation.submission));

function withKey(
  request: SteadyRequest,
  { key }: Step,
  ownKey: string | undefined,
  body: FixedBody,
): RequestInit {
  const { passed, init } = request;
  const profile = profileOf(request);
  const headers = readHeaders(passed, init);
  // The form of a Request gets a boundary of ours, which its body tells.
  if (passed && boundaryOf(body)) headers.delete('content-type');
  let sent = body;
  if (!ownKey) {
    if (profile.body === undefined) headers.set(profile.header, serializeKey(key, profile));
    else {
      const bare = serializeKey(key, { ...profile, format: 'raw' });
      sent = insertBodyText(body, profile.body, bare);
    }
  }
  return { ...init, headers: inGivenForm(init.headers, headers), body: sent };
}

/**
 * Records a write without a key, to an API that honours keys, which belongs to no operation. It is made by a mutationFn
 * that awaits something first and then uses the instance, or by code that has nothing to do with a mutation: it is not
 * known which. So each submission whose mutationFn may have made it is no longer sent again without asking.
 *
 * @returns a promise that resolves once that is stored, where it is stored later.
 * @throws TypeError if it was sent with a key before.
 */
function recordStray(operations: Operations, request: SteadyRequest): Promise<unknown> | undefined {
  const { operation } = request;
  if (!operation.isLone || request.isRepeatable) return undefined;
  const remedy =
    inDevelopment(
      () =>
        ' Send it with the fetch or json of the context of its mutationFn, also after an await.',
    ) ?? '';
  const storing: Promise<void>[] = [];
  for (const execution of operations.executions) {
    if (!execution.isIdle()) continue;
    refuseAfterKey(request, execution.operation, remedy);
    execution.submission.recordUnkeyed();
    const stored = execution.submission.stored();
    if (stored) storing.push(stored);
    inDevelopment(() => warnOfStray(operations, request));
  }
  return storing.length > 0 ? Promise.allSettled(storing) : undefined;
}
