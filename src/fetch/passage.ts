import type { Connectivity } from '../connectivity/connectivity.ts';
import type { PageLife } from '../connectivity/page-life.ts';
import type { Admission } from '../origin/admission.ts';
import type { Permit } from '../origin/permits.ts';
import type { Network } from '../origin/network.ts';
import type { OriginOptions } from '../origin/options.ts';
import { createOrigins, type Origins } from '../origin/origins.ts';
import { signOf } from '../origin/sign.ts';
import type { Ask, Target } from '../origin/wait-queue.ts';
import type { Clock, Random } from '../lib/clock.ts';
import { isSafeMethod } from '../policy/operation.ts';
import type { Outcome } from '../policy/outcome.ts';
import { codeOf, type MadeBy } from '../lib/made-by.ts';
import type { ApiProfile } from './api-profile.ts';
import type { Expected } from './expected-content.ts';
import { isRepeatable, type RequestFacts } from './failure-report.ts';
import { pauseAt } from './pause.ts';
import type { Step } from './intent.ts';
import { isAwaited, whetherAwaited } from './is-awaited.ts';
import { weightOf } from './is-in-doubt.ts';
import type { LiveOperation, SentRequest } from './live-operation.ts';
import type { Operations } from './operations.ts';
import type { RateLimitCode } from './rate-limit-fields.ts';
import { refuse } from './refuse.ts';
import { toUrl } from './request-parts.ts';

/** Tells the origin how an attempt ended, at its headers; only the first word counts. */
export type Settle = (outcome: Outcome, error?: unknown, response?: Response) => void;

/**
 * The way out: at once when all is well, and otherwise when the origin lets it go; undefined when
 * it is no longer wanted.
 *
 * @throws NotSentError when it may not go.
 */
export type Enter = (
  facts: SentFacts,
  signal: AbortSignal | undefined,
) => Settle | undefined | Promise<Settle | undefined>;

/** What is known of a request of ours. */
export interface SentFacts extends RequestFacts {
  readonly live: LiveOperation;
  readonly method: string;
  readonly url: string;
  /** Method and URL: which of its operation's requests it is. */
  readonly name: string;
  readonly endpoint: string;
  readonly limitScope: string;
  readonly api: ApiProfile | undefined;
  /** The idempotency key that it came with. */
  readonly own: string | undefined;
  /** What a good answer must be. */
  readonly expect: Expected | undefined;
  /** Another client sends it, and makes its own error of a status. */
  readonly isRaw: boolean;
  /** Known once it has been given its key. */
  keyed: boolean;
  /** Then: what it is one attempt of. */
  step?: Step | undefined;
}

/** What the way out stands on. */
export interface PassageContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly operations: Operations;
}

/** What lies in front of all origins. */
export interface Surroundings {
  readonly connectivity: Pick<Connectivity, 'recordAnswer' | 'recordNoAnswer'>;
  readonly network: Network;
  /** How answers tell a rate limit. */
  readonly rateLimit?: MadeBy<'rateLimitFields'> | undefined;
  /** Undefined where there is no page. */
  readonly page?: PageLife | undefined;
}

/** The way out of an instance, past the gates of the origins. */
export interface Passage extends Surroundings {
  readonly enter: Enter;
  /**
   * Waits before an attempt begins, where its operation has gone before. What it is given there, its
   * first request to that gate takes. Only where its gate is not open. @returns false when it was dropped.
   *
   * @throws NotSentError when its time is up.
   */
  readonly pauseBefore: (live: LiveOperation) => Promise<boolean>;
  /** An attempt is over: a turn that it has not taken goes back. */
  readonly giveBack: (live: LiveOperation) => void;
  readonly origins: Origins;
}

export function createPassage(
  context: PassageContext,
  options: OriginOptions,
  surroundings: Surroundings,
): Passage {
  const { clock, random } = context;
  const { connectivity, network, rateLimit } = surroundings;
  const origins = createOrigins(clock, random, options, network);

  const targetOf = (live: LiveOperation, { endpoint, limitScope }: SentRequest): Target => ({
    endpoint,
    limitScope,
    isNew: live.attempt === 1,
    mayBeOffline: live.mayBeOffline,
  });
  const askOf = (live: LiveOperation, facts: SentRequest): Omit<Ask, 'onPause'> => {
    const { priority, whenDown, maxPauseMs } = context.operations.policyOf(live, facts);
    return {
      ...targetOf(live, facts),
      risk: isSafeMethod(facts.method) ? 0 : isRepeatable(facts) ? 1 : 2,
      priority,
      isForeground: whetherAwaited(live),
      id: live.ref.id,
      isFailFast: whenDown === 'fail',
      askedAt: live.askedAt,
      maxPauseMs: maxPauseMs,
    };
  };
  // Apart, so that the way of a request that goes at once makes one function and no more.
  const settleAt = (gate: Admission, permit: Permit, facts: SentFacts): Settle => {
    const { live, url, limitScope, api, step } = facts;
    const sentAt = clock.now();
    const weight = weightOf(facts);
    const unkeyed = isRepeatable(facts) ? 0 : 1;
    live.doubts += weight;
    if (step) step.doubts = (step.doubts ?? 0) + weight;
    live.unkeyed += unkeyed;
    live.isTrial ||= permit.isTrial;
    let isOver = false;
    return (outcome, error, response) => {
      if (isOver) return;
      isOver = true;
      if (outcome.processed === 'no') {
        live.doubts -= weight;
        if (step?.doubts) step.doubts -= weight;
        live.unkeyed -= unkeyed;
      }
      const now = clock.now();
      const isFailure = outcome.kind === 'http';
      const retryAfterMs = isFailure ? outcome.retryAfterMs : undefined;
      // First: a probe that is told to wait must release nobody.
      // Retry-After takes precedence (draft-ietf-httpapi-ratelimit-headers).
      if (response && retryAfterMs !== undefined && [429, 503, 529].includes(response.status)) {
        const { maxRetryAfterMs } = context.operations.policyOf(live, facts);
        // Longer than that, it is for the call that was told alone, which stops.
        if (retryAfterMs <= maxRetryAfterMs) gate.pause(limitScope, retryAfterMs);
      } else if (response) {
        const fields = api?.rateLimit ?? rateLimit;
        const limit = fields && codeOf<RateLimitCode>(fields).read(response.headers, now);
        if (limit) gate.allow(limitScope, limit);
      }
      const { kind } = outcome;
      // A body at its headers: somebody else has answered, as a captive portal does.
      if (kind !== 'network' && kind !== 'timeout' && kind !== 'body') {
        if (response && !live.isUnproven?.() && !isSentElsewhere(url, response))
          connectivity.recordAnswer(sentAt, now, url);
        permit.settle(signOf(outcome), error);
        return;
      }
      let isJudged = false;
      connectivity.recordNoAnswer(sentAt, url, (isItsDoing) => {
        isJudged = true;
        permit.settle(isItsDoing ? signOf(outcome) : 'nothing', error);
      });
      // Only the verdict waits for the check of the network.
      if (!isJudged) permit.free();
    };
  };
  const wait = async (
    gate: Admission,
    facts: SentFacts,
    signal: AbortSignal | undefined,
  ): Promise<Settle | undefined> => {
    const { live } = facts;
    const release = await pauseAt(gate, askOf(live, facts), live, signal, context);
    if (release === 'expired') throw refuse(live, facts, gate, false);
    return release === 'dropped' ? undefined : settleAt(gate, release, facts);
  };

  const enter: Enter = (facts, signal) => {
    const { live, url, api } = facts;
    const { pass, attempt } = live;
    // What has failed, and was told so, sends nothing more: not before its next attempt, or ever.
    if (live.intent && (live.decision?.kind === 'stop' || live.phase === 'waiting'))
      return undefined;
    const gate = origins.admissionOf(
      url,
      api?.partition,
      api?.concurrency && { concurrency: api.concurrency },
    );
    live.gate = gate;
    live.sent = facts;
    if (pass?.gate === gate) {
      live.pass = undefined;
      return settleAt(gate, pass.permit, facts);
    }
    const isCharged = attempt > 1 && live.paidFor !== attempt;
    live.paidFor = attempt;
    const permit = gate.enter(targetOf(live, facts));
    if (!permit) return wait(gate, facts, signal);
    if (live.isUrged) live.isUrged = false;
    const { budget } = gate;
    // A user who waits is never refused by the budget.
    const isFree =
      !isCharged ||
      facts.keyed ||
      isAwaited(live, context.operations.policyOf(live, facts).priority);
    if (isCharged && isFree) budget.charge();
    if (isFree || budget.spend()) return settleAt(gate, permit, facts);
    permit.settle('nothing');
    throw refuse(live, facts, gate, true);
  };

  return {
    ...surroundings,
    enter,
    origins,
    async pauseBefore(live) {
      const { gate, sent } = live;
      if (!gate || !sent) return true;
      const release = await pauseAt(gate, askOf(live, sent), live, undefined, context);
      if (release === 'expired') throw refuse(live, sent, gate, false);
      if (release !== 'dropped') live.pass = { gate, permit: release };
      return release !== 'dropped';
    },
    giveBack(live) {
      const { pass } = live;
      live.pass = undefined;
      pass?.permit.settle('nothing');
    },
  };
}

/** As a captive portal does to a connection without TLS. */
function isSentElsewhere(url: string, { redirected, url: end }: Response): boolean {
  const asked = redirected ? toUrl(url) : undefined;
  return asked?.protocol === 'http:' && asked.origin !== toUrl(end)?.origin;
}
