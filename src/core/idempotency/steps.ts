import type { SteadyRequest } from '../fetch/request.ts';
import { inDevelopment } from '../lib/development.ts';
import { reject } from '../lib/input/check.ts';
import { shown } from '../lib/input/url.ts';
import type {
  FixedBody,
  KeyRules,
  Step,
  StepRequest,
  Steps,
  Submission,
} from '../operation/parts/submission.ts';
import { fixBody, isSameBody } from './body.ts';
import { createIdempotencyKey, deriveKey } from './key.ts';

/** A key without the quotes of a structured field. */
export const bareKey = (key: string): string => key.replace(/^"(.*)"$/s, '$1');

/** Changes the step of a request, for all requests that are the same step. @param sentTo - The rules of the API that it is sent to. */
export function changeStep(request: SteadyRequest, change: Partial<Step>, sentTo?: KeyRules): void {
  const { step, steps, operation } = request;
  if (!step) return;
  const all = steps as Steps;
  const changed = all.change(step, change);
  request.setStep(changed, all);
  operation.submission?.recordStep(changed, sentTo);
}

/**
 * The keyed requests of an operation. The first of an attempt needs no name, and every other one does: so the key of a
 * request depends only on the key of the operation and its name, even if another request was refused, left out or
 * reordered. No two steps share a key, and no key has two payloads.
 */
export class KeyedSteps implements Steps {
  readonly known: Map<string, Step>;
  readonly #submission: Submission | undefined;
  /** Each request waits until the one before it knows its step. */
  #turn: Promise<unknown> = Promise.resolve();
  /** The latest attempt with a keyed request, and the target of the first of them: the others need names. */
  #first: { readonly attempt: number; readonly target: string } | undefined;
  /** The error of an attempt: no request of it that is not sent yet is sent. */
  #mistake: { readonly attempt: number; readonly error: unknown } | undefined;

  constructor(submission: Submission | undefined) {
    const past = submission?.past ?? [];
    this.known = new Map(past.map((step) => [step.id, { ...step, attempt: 0 }]));
    this.#submission = submission;
  }

  /**
   * The step that a request is.
   *
   * @throws TypeError when it needs a name and has none, or has changed since it was sent.
   */
  async take(request: StepRequest): Promise<Step> {
    const { attempt, own, name, target } = request;
    const stop = (error: unknown): never => {
      this.#mistake ??= { attempt, error };
      throw error;
    };
    const first = this.#first?.attempt === attempt ? this.#first.target : undefined;
    // Before anything is awaited: the next request is the second.
    this.#first = { attempt, target: first ?? target };
    const isUnnamed = own === undefined && name === undefined;
    if (first !== undefined && isUnnamed && !this.#hasFailed(request))
      return stop(missingName(target, first));
    const find = async (): Promise<Step> => {
      const step = await this.#find(request);
      this.known.set(step.id, step);
      return step;
    };
    const found = this.#turn.then(find).catch(stop);
    this.#turn = found.catch(() => {});
    const step = await found;
    if (this.#mistake?.attempt === attempt) throw this.#mistake.error;
    return step;
  }

  /** Replaces a step by one with these changes. */
  change({ id }: Step, change: Partial<Step>): Step {
    const step = { ...(this.known.get(id) as Step), ...change };
    this.known.set(id, step);
    return step;
  }

  /**
   * Whether this is the first request of its attempt, sent again because it has failed: as an app does that has got a new
   * token after a 401, or a client with retries of its own.
   */
  #hasFailed({ attempt, target, processedWith }: StepRequest): boolean {
    const step = this.known.get('');
    if (step?.attempt !== attempt || step.target !== target || step.sentAt === undefined)
      return false;
    const processed = processedWith(step.key);
    return processed === 'no' || processed === 'unknown';
  }

  async #find(request: StepRequest): Promise<Step> {
    const { attempt } = request;
    const id = this.#idOf(request);
    const step = this.known.get(id);
    const isAgain = step?.attempt === attempt;
    // A step that was never sent may change.
    if (!step || (step.sentAt === undefined && !isAgain))
      return this.#create(id, request, step?.refusals);
    const isUndone = this.#isUndone(step, request);
    const hasChanged = await this.#hasChanged(step, request, isUndone);
    // A step that was certainly not done may change too, under a new key: one key never has two payloads. One that was
    // refused in this attempt needs a new key in any case: the old one stands for the refusal.
    if (isUndone && (hasChanged || (isAgain && step.isRefused)))
      return this.#create(id, request, (step.refusals ?? 0) + 1);
    if (hasChanged) {
      if (step.attempt === 0) this.#submission?.recordChanged();
      return refuseStep(request, step);
    }
    const body = step.body === undefined ? await this.#fix(id, request) : step.body;
    return { ...step, attempt, body };
  }

  /** Whether the step was certainly not done. */
  #isUndone({ attempt, key }: Step, request: StepRequest): boolean {
    if (this.#submission?.wasSent) return false;
    return attempt === 0 || (attempt === request.attempt && request.processedWith(key) === 'no');
  }

  /** On the attempts after the first, a body in memory is not compared: it is sent as it was. */
  async #hasChanged(step: Step, request: StepRequest, isUndone: boolean): Promise<boolean> {
    if (step.target !== request.target) return true;
    const isCompared = isUndone || step.attempt === request.attempt || step.body === undefined;
    return isCompared && !(await this.#isSame(step, request));
  }

  async #create(id: string, request: StepRequest, refusals = 0): Promise<Step> {
    const { target, own, attempt } = request;
    this.#refuseNewKey(request);
    // One without a submission has a key of its own.
    const ofOperation = this.#submission?.key as string;
    const isFirst = id === '' && refusals === 0;
    const key = own ?? (isFirst ? ofOperation : deriveKey(ofOperation, `${refusals} ${id}`));
    const body = await this.#fix(id, request);
    const digest = await this.#submission?.digest(body);
    return { id, target, key, attempt, refusals, body, digest };
  }

  #idOf({ own, name }: StepRequest): string {
    // The key of the operation, written by hand, means its first request.
    if (own !== undefined) return bareKey(own) === this.#submission?.key ? '' : `=${own}`;
    return name === undefined ? '' : `#${name}`;
  }

  /**
   * The boundary of a form is always the same for a submission, so that it is sent again with the same bytes after a
   * reload. Without one it is random: derived from a key that the app has made up, it could be guessed, and with it the
   * end of a file.
   */
  async #fix(id: string, { body }: StepRequest): Promise<FixedBody> {
    const key = this.#submission?.key;
    return fixBody(await body(), () =>
      key === undefined ? createIdempotencyKey() : deriveKey(key, `boundary ${id}`),
    );
  }

  async #isSame({ id, body, digest }: Step, request: StepRequest): Promise<boolean> {
    if (body !== undefined) return isSameBody(body, await request.body());
    return (await this.#submission?.digest(await this.#fix(id, request))) === digest;
  }

  /** Refuses a key of the app's own that is made anew on each attempt: it would be another order each time. */
  #refuseNewKey({ own, target, attempt }: StepRequest): void {
    if (own === undefined) return;
    const path = pathOf(target);
    for (const { id, target: before, attempt: last, sentAt, isDone } of this.known.values())
      if (!id.startsWith('#') && last !== attempt && sentAt !== undefined && !isDone)
        if (pathOf(before) === path) {
          inDevelopment(() => {
            const rule = `what it was on the attempt before, which has sent ${path} with another key: make it before the mutation`;
            reject('steady.fetch', 'idempotencyKey', own, rule);
          });
          reject('steady.fetch', 'idempotencyKey', own, undefined);
        }
  }
}

const pathOf = (target: string): string => target.replace(/\?.*/s, '');

function refuseStep({ own, name, target, attempt }: StepRequest, step: Step): never {
  const [option, value] = own === undefined ? ['step', name] : ['idempotencyKey', own];
  inDevelopment(() => {
    const isAgain = step.attempt === attempt;
    // A body that is kept is compared in its own attempt alone.
    const kept = isAgain ? '' : ', whose bytes are not kept';
    const what =
      step.target !== target ? `another URL, ${shown(step.target)}` : `another body${kept}`;
    const rule = isAgain
      ? `the name of one request, and this attempt has sent it with ${what}`
      : `the name of the same request on every attempt, and it was sent before with ${what}: a new one needs a name of its own`;
    const at = own === undefined ? ` (${shown(target)})` : '';
    reject('steady.fetch', option, value, `${rule}${at}`);
  });
  return reject('steady.fetch', option, value, undefined);
}

function missingName(target: string, first: string): TypeError {
  let message = `steady.fetch: step is missing for ${shown(target)}.`;
  inDevelopment(() => {
    message += ` Only the first request with an idempotency key of a mutation needs no name, and that was ${shown(first)}. Give this one a name that is the same on every attempt: json(url, { step: 'pay' }).`;
  });
  return new TypeError(message);
}
