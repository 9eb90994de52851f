import { serializeKey } from '../idempotency/key.ts';
import type { Clock } from '../lib/clock.ts';
import { failures } from '../policy/outcome.ts';
import type { FetchContext } from './call.ts';
import { insertBodyKey, readBodyKey } from './body-key.ts';
import { reportFailure } from './failure-report.ts';
import { isSameBody } from './fixed-body.ts';
import type { IdempotencyProfile } from './idempotency-profile.ts';
import type { Step, Steps } from './intent.ts';
import { judgeAnswers } from './judge-answers.ts';
import type { Passed } from './keyed-init.ts';
import type { KeyedRequest } from './keyed-request.ts';
import type { LiveOperation } from './live-operation.ts';
import { boundaryOf } from './multipart.ts';
import type { Operations } from './operations.ts';
import type { SentFacts } from './passage.ts';
import { prepare } from './prepare.ts';
import { readHeaders, type RequestParts, toUrl } from './request-parts.ts';
import { noteStray } from './stray.ts';
import { takeStep } from './take-step.ts';
import { checkNames, isKeyWanted } from './wants-key.ts';
import { warn } from './warn.ts';

/** What a profile brings: gives requests their idempotency keys, and holds their bytes. */
export interface KeyCode {
  readonly by: 'defineIdempotency';
  /** The key that a request carries already, whoever gave it. */
  readonly read: (
    profile: IdempotencyProfile,
    parts: RequestParts,
    init: RequestInit,
  ) => string | undefined;
  /**
   * Gives a request its key, and its bytes; undefined when it needs none.
   *
   * @throws TypeError when its key or its body cannot be sent.
   */
  readonly add: (
    context: FetchContext,
    profile: IdempotencyProfile,
    facts: SentFacts,
    passed: Passed,
  ) => Promise<KeyedRequest | undefined>;
  /** Notes a request without a key, which may be part of a mutation. @returns what it waits for. */
  readonly noteStray: (
    context: FetchContext,
    facts: SentFacts,
    signal: AbortSignal | undefined,
  ) => Promise<unknown> | undefined;
}

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
  const { live, own } = facts;
  checkNames(facts, passed.init);
  if (!isKeyWanted(facts, passed.init)) return undefined;
  try {
    const step = await identify(clock, operations, facts, passed);
    if (live.intent) live.intent.isRepeatable = true;
    return {
      init: withKey(profile, passed, step, own),
      step,
      ...judgeAnswers(profile, step, live, clock),
    };
  } catch (error) {
    reportFailure(error, { ...facts, failure: failures.invalid });
    throw error;
  }
}

async function identify(
  clock: Clock,
  operations: Operations,
  facts: SentFacts,
  { parts, init }: Passed,
): Promise<Step> {
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
  const step = await takeStep(stepsOf(live, clock), {
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
}

function stepsOf(live: LiveOperation, clock: Clock): Steps {
  const { intent } = live;
  const wasSent = !!intent?.wasSent;
  // From here on, whatever fails leaves the outcome unknown.
  if (wasSent) live.unsure ??= new Set();
  const past = intent?.past ?? [];
  return (live.steps ??= {
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
