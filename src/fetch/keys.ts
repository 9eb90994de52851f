import { reject } from '../policy/check-option.ts';
import type { Clock } from '../policy/clock.ts';
import { serializeKey } from '../policy/idempotency-key.ts';
import { isIdempotentMethod } from '../policy/operation.ts';
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
   * the same on every attempt, and another for what is meant anew. Within a mutation of Steadfetch,
   * which has a key already, it is the name of a step, whose key is derived from both: needed where a
   * retry leaves out one of several equal requests to the same URL. A header of your own comes before it.
   *
   * @default none; within a mutation of Steadfetch, a key by itself for each POST and PATCH
   */
  readonly idempotencyKey?: string | undefined;
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
    const steps = stepsOf(live);
    const body = async (): Promise<BodyInit | null> => {
      if (init.body != null || !parts.request || /^(GET|HEAD)$/.test(method))
        return init.body ?? null;
      // From a copy, because the next attempt may pass it again. Firefox has no `request.body`.
      const copy = parts.request.clone();
      // A form in it has another boundary each time.
      const isForm = copy.headers.get('content-type')?.includes('form-data');
      return isForm ? copy.formData() : copy.arrayBuffer();
    };
    const ask = {
      target: `${method} ${toUrl(url)?.href ?? url}`.replace(/#.*/s, ''),
      own: own ?? (intent ? undefined : init.idempotencyKey),
      label: init.idempotencyKey,
      attempt,
      intent,
      body,
    };
    // In the order in which they were made, so that each attempt counts alike.
    const turn = steps.turn.then(() => takeStep(steps.known, ask));
    steps.turn = turn.catch(() => {
      if (intent) intent.isChanged = true;
    });
    const step = await turn;
    if (process.env.NODE_ENV !== 'production' && step.sentAt !== undefined) {
      const isSame = async (): Promise<boolean> => isSameBody(step.body, await body());
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
      const { idempotencyKey } = init;
      const isAsked = !!own || idempotencyKey !== undefined;
      if (!isAsked && (idempotent || isIdempotentMethod(method))) return undefined;
      if (!profile) {
        const { intent } = live;
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
        if (idempotencyKey !== undefined && !idempotencyKey) {
          reject('steady.fetch', 'idempotencyKey', idempotencyKey, 'a text that is not empty');
        }
        const step = await identify(facts, passed);
        return {
          init: withKey(profile, passed, step, own),
          ...judgeAnswers(profile, step, live, clock),
        };
      } catch (error) {
        reportFailure(error, { ...facts, failure: failures.invalid });
        throw error;
      }
    },
  };
}

const gone = { body: null, attempt: 0, isPast: true };

function stepsOf(live: LiveOperation): Steps {
  const { intent } = live;
  const wasSent = intent?.wasSent ?? intent?.primary !== undefined;
  // From here on, whatever fails leaves the outcome unknown.
  if (wasSent) live.unsure ??= new Set();
  const past = (intent?.past ?? []).map((step) => ({ ...step, ...gone }));
  return (live.steps ??= { known: past, turn: Promise.resolve(), wasSent });
}

function withKey(
  profile: IdempotencyProfile,
  { parts, init }: Passed,
  { key, body }: Step,
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
