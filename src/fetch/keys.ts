import { reject } from '../policy/check-option.ts';
import type { Clock } from '../policy/clock.ts';
import { serializeKey } from '../policy/idempotency-key.ts';
import { isIdempotentMethod, isSafeMethod } from '../policy/operation.ts';
import { failures } from '../policy/outcome.ts';
import type { ApiProfile } from './api-profile.ts';
import { insertBodyKey, readBodyKey } from './body-key.ts';
import { reportFailure } from './failure-report.ts';
import { isSameBody } from './fixed-body.ts';
import { checkIdempotency, type IdempotencyProfile } from './idempotency-profile.ts';
import type { Step, Steps } from './intent.ts';
import { judgeAnswers } from './judge-answers.ts';
import type { KeyedRequest } from './keyed-request.ts';
import type { LiveOperation } from './live-operation.ts';
import type { Operations } from './operations.ts';
import type { SentFacts } from './passage.ts';
import { boundaryOf } from './multipart.ts';
import { readHeaders, type RequestParts, toUrl } from './request-parts.ts';
import { takeStep } from './take-step.ts';
import { warn } from './warn.ts';

/** What fetch takes, and a key. */
export interface KeyedInit extends RequestInit {
  /**
   * The idempotency key of this request, sent as the profile of its API declares. It is yours: give
   * the same on every attempt, and another for what is meant anew. A header of your own comes before it.
   * Within a mutation of Steadfetch, which has a key already, it is refused: see `step`.
   *
   * @default none; within a mutation of Steadfetch, a key by itself for each POST and PATCH
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * The name of this request within a mutation of Steadfetch: its key is derived from that of the
   * mutation and the name. The first request with a key needs none; from the second on it is required.
   * Give the same name on every attempt, and another to each request.
   *
   * @default none
   *
   * @example
   * ```ts
   * const placeOrder = mutationOptions(steady, {
   *   async mutationFn(order: { sku: string }, { json }) {
   *     const { id } = await json<{ id: string }>('/api/orders', { json: order });
   *     return json<{ receipt: string }>('/api/payments', { json: { id }, step: 'pay' });
   *   },
   * });
   * ```
   */
  readonly step?: string | undefined;
}

/** What was passed to fetch. */
interface Passed {
  readonly parts: RequestParts;
  readonly init: KeyedInit;
}

/** Gives requests their idempotency keys, and holds their bytes. */
export interface Keys {
  /** The key that a request carries already, whoever gave it. */
  readonly read: (
    profile: IdempotencyProfile,
    parts: RequestParts,
    init: RequestInit,
  ) => string | undefined;
  /**
   * Gives a request its key, and its bytes; undefined when it needs none, or its API honours none.
   *
   * @throws TypeError when its key or its body cannot be sent.
   */
  readonly add: (facts: SentFacts, passed: Passed) => Promise<KeyedRequest | undefined>;
}

/** What the keys stand on. */
export interface KeysContext {
  readonly clock: Clock;
  readonly operations: Operations;
}

/** @throws TypeError when the declaration of an API is not as it must be. */
export function createKeys(
  { clock, operations }: KeysContext,
  apis: readonly ApiProfile[] = [],
): Keys {
  apis.forEach(({ idempotency }, index) => {
    if (idempotency) checkIdempotency(`createSteadfetch: apis[${index}]`, idempotency);
  });

  const identify = async (facts: SentFacts, { parts, init }: Passed): Promise<Step> => {
    const { live, method, url, own } = facts;
    const { intent, attempt } = live;
    const body = async (): Promise<BodyInit | null> => {
      if (init.body != null || !parts.request || /^(GET|HEAD)$/.test(method))
        return init.body ?? null;
      // From a copy, because the next attempt may pass it again. Firefox has no `request.body`.
      const copy = parts.request.clone();
      // A form in it has another boundary each time.
      const isForm = copy.headers.get('content-type')?.includes('form-data');
      return isForm ? copy.formData() : copy.arrayBuffer();
    };
    const step = await takeStep(stepsOf(live), {
      target: `${method} ${toUrl(url)?.href ?? url}`.replace(/#.*/s, ''),
      own: own ?? init.idempotencyKey,
      name: init.step,
      attempt,
      intent,
      body,
    });
    const { body: sent, sentAt } = step;
    if (process.env.NODE_ENV !== 'production' && sent !== undefined && sentAt !== undefined) {
      const isSame = async (): Promise<boolean> => isSameBody(sent, await body());
      if (!(await isSame().catch(() => true))) warnOfChange(operations, facts);
    }
    return step;
  };

  return {
    read({ header, body }, { request }, init) {
      if (body !== undefined) return readBodyKey(init.body, body);
      return readHeaders(request, init).get(header) || undefined;
    },
    async add(facts, passed) {
      const { live, method, idempotent, api, own } = facts;
      const profile = api?.idempotency;
      const { init } = passed;
      const { idempotencyKey, step: name } = init;
      checkNames(facts, init);
      const isAsked = !!own || idempotencyKey !== undefined || name !== undefined;
      const { intent } = live;
      if (!isAsked && (idempotent || isIdempotentMethod(method))) {
        if (intent && !isSafeMethod(method)) intent.isRepeatable = true;
        return undefined;
      }
      if (!profile) {
        // Somebody may have written it there by hand.
        const written = [...readHeaders(passed.parts.request, init).values(), init.body];
        if (
          intent &&
          !written.some((value) => typeof value === 'string' && value.includes(intent.key))
        )
          intent.isUnkeyed = true;
        if (process.env.NODE_ENV !== 'production') warnOfSilence(operations, facts);
        return undefined;
      }
      try {
        const step = await identify(facts, passed);
        if (intent) intent.isRepeatable = true;
        return {
          init: withKey(profile, passed, step, own),
          step,
          ...judgeAnswers(profile, step, live, clock),
        };
      } catch (error) {
        reportFailure(error, { ...facts, failure: failures.invalid });
        throw error;
      }
    },
  };
}

function stepsOf(live: LiveOperation): Steps {
  const { intent } = live;
  const wasSent = !!intent?.wasSent;
  // From here on, whatever fails leaves the outcome unknown.
  if (wasSent) live.unsure ??= new Set();
  const past = intent?.past ?? [];
  return (live.steps ??= {
    known: new Map(past.map((step) => [step.id, { ...step, attempt: 0 }])),
    turn: Promise.resolve(),
    wasSent,
  });
}

/** @throws TypeError when a key is given where a name is meant, or the other way round. */
function checkNames(facts: SentFacts, { idempotencyKey, step }: KeyedInit): void {
  const { intent } = facts.live;
  const refuse = (option: keyof KeyedInit, value: unknown, allowed: string): never => {
    try {
      return reject('steady.fetch', option, value, allowed);
    } catch (error) {
      reportFailure(error, { ...facts, failure: failures.invalid });
      throw error;
    }
  };
  for (const [option, value] of Object.entries({ idempotencyKey, step }))
    if (value !== undefined && (typeof value !== 'string' || !value))
      refuse(option as keyof KeyedInit, value, 'a text that is not empty');
  if (intent && idempotencyKey !== undefined)
    refuse(
      'idempotencyKey',
      idempotencyKey,
      `left out within a mutation, which has a key: give its requests names, json(url, { step: 'pay' })`,
    );
  if (!intent && step !== undefined)
    refuse(
      'step',
      step,
      `left out outside a mutation of Steadfetch: use the fetch or json that its mutationFn is given, or give an idempotencyKey`,
    );
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

function warnOfSilence(operations: Operations, { method, url }: SentFacts): void {
  const origin = toUrl(url)?.origin ?? '';
  warn(
    operations,
    `keys ${origin}`,
    `${method} ${url.replace(/[?#].*/s, '')} was to have an idempotency key, and no profile says how ${origin} ` +
      `takes one. So none is sent, and the request is not retried. Declare it: createSteadfetch({ apis: ` +
      `[{ match: '${origin}', idempotency: idempotencyProfiles.draft }] }).`,
  );
}
