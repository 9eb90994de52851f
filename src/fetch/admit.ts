import type { Connectivity } from '../connectivity/connectivity.ts';
import type { PageLife } from '../connectivity/page-life.ts';
import type { RateLimitCode } from '../headers/rate-limit.ts';
import type { Clock, Random } from '../lib/clock.ts';
import { codeOf, type MadeBy } from '../lib/input/made-by.ts';
import { shown, toUrl } from '../lib/input/url.ts';
import { isRepeatable, reportFailure, toClientError } from '../operation/error-info.ts';
import type { RequestFacts, SentRequest } from '../operation/facts.ts';
import { NotSentError } from '../operation/errors.ts';
import type { Operation } from '../operation/operation.ts';
import type { Operations } from '../operation/operations.ts';
import type { Admission } from '../origin/admission.ts';
import type { Network, OriginOptions } from '../origin/origin.ts';
import { createOrigins, type Origins } from '../origin/origins.ts';
import type { Ask, Permit, Target } from '../origin/wait-queue.ts';
import { isSafeMethod } from '../policy/operation.ts';
import type { Failure, FailureDetails, PauseReason } from '../policy/outcome.ts';
import type { Enter, RecordOutcome, SentFacts } from './attempt/in-flight.ts';
import { dropped } from './attempt/failure.ts';
import { pauseAt } from './pause.ts';

/** What the way out stands on. */
interface AdmissionsContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly operations: Operations;
}

/** What lies in front of all origins. */
interface Surroundings {
  readonly connectivity: Pick<Connectivity, 'recordAnswer' | 'recordNoAnswer'>;
  readonly network: Network;
  /** How answers tell a rate limit. */
  readonly rateLimit?: MadeBy<'rateLimitFields'> | undefined;
  /** Undefined where there is no page. */
  readonly page?: PageLife | undefined;
  /** Whether the app is seen. Where nothing else tells whether a user waits, one does then. */
  readonly isSeen: () => boolean;
}

/** The way out of an instance, past the admission of each origin. */
export interface Admissions extends Surroundings {
  readonly enter: Enter;
  /**
   * Waits before an attempt begins, where its operation has gone before. What it is given there, its
   * first request to that origin takes. Only where that is not open. @returns false when it was dropped.
   *
   * @throws NotSentError when its time is up.
   */
  readonly pauseBefore: (operation: Operation) => Promise<boolean>;
  readonly origins: Origins;
}

/** Nobody needs to know how a request ended that no server was asked by. */
const atNoGate: RecordOutcome = () => {};

const always = (): boolean => true;

/** Makes the way out of an instance. */
export function createAdmissions(
  context: AdmissionsContext,
  options: OriginOptions,
  surroundings: Surroundings,
): Admissions {
  const { clock, random } = context;
  const { waits } = context.operations;
  const { connectivity, network, rateLimit, isSeen } = surroundings;
  const origins = createOrigins(clock, random, options, network);

  const targetOf = (operation: Operation, { endpoint, limitScope }: SentRequest): Target => ({
    endpoint,
    limitScope,
    isNew: operation.attempt === 1,
    mayBeOffline: operation.mayBeOffline,
  });
  const askOf = (operation: Operation, facts: SentRequest): Ask => {
    const { priority, whenDown, maxPauseMs } = operation.policyOf(facts);
    return {
      ...targetOf(operation, facts),
      risk: isSafeMethod(facts.method) ? 0 : isRepeatable(facts) ? 1 : 2,
      priority,
      // A mutation is what a user has pressed for, whatever they look at meanwhile.
      isForeground: operation.isForeground ?? (operation.ref.kind === 'mutation' ? always : isSeen),
      id: operation.ref.id,
      isFailFast: whenDown === 'fail',
      askedAt: operation.askedAt,
      // Where it would wait in vain there is no place for it; what a user wants now does not wait.
      maxPauseMs: operation.isUrged ? Infinity : maxPauseMs,
    };
  };
  // Apart, so that the way of a request that goes at once makes one function and no more.
  const openRequest = (admission: Admission, permit: Permit, facts: SentFacts): RecordOutcome => {
    const { operation, name, url, limitScope, api } = facts;
    const sentAt = clock.now();
    const effect = operation.effects.begin(facts, name, isRepeatable(facts));
    facts.effect = effect;
    if (permit.isTrial) operation.route.trialAt = sentAt;
    let isOver = false;
    return (outcome, error, response) => {
      if (isOver) return;
      isOver = true;
      operation.effects.settle(effect, outcome.processed);
      const now = clock.now();
      const { status = 0, retryAfterMs }: FailureDetails = outcome;
      // First: a probe that is told to wait must release nobody.
      // Retry-After takes precedence (draft-ietf-httpapi-ratelimit-headers).
      if (response && retryAfterMs !== undefined && [429, 503, 529].includes(status)) {
        const { maxRetryAfterMs } = operation.policyOf(facts);
        // Longer than that, it is for the call that was told alone, which stops.
        if (retryAfterMs <= maxRetryAfterMs) admission.pause(limitScope, retryAfterMs);
      } else if (response) {
        const fields = codeOf<RateLimitCode>(api?.rateLimit ?? rateLimit);
        const limit = fields?.read(response.headers, now);
        if (limit) admission.allow(limitScope, limit);
      }
      // A body at its headers, and 511: somebody else has answered, as a captive portal does.
      const kind = status === 511 ? 'body' : outcome.kind;
      if (!['network', 'timeout', 'body'].includes(kind)) {
        if (response && !operation.isUnproven?.() && !isSentElsewhere(url, response))
          connectivity.recordAnswer(sentAt, now, url);
        permit.settle(outcome, error);
        return;
      }
      let isKnown = false;
      connectivity.recordNoAnswer(sentAt, url, (isItsDoing) => {
        isKnown = true;
        permit.settle(isItsDoing ? outcome : undefined, error);
      });
      // Only the verdict waits for the check of the network.
      if (!isKnown) permit.free();
    };
  };
  // Without an async function: what waits is kept by the thousand.
  const wait = (
    admission: Admission,
    facts: SentFacts,
    signal: AbortSignal | undefined,
  ): Promise<RecordOutcome> => {
    const { operation } = facts;
    const ask = askOf(operation, facts);
    return pauseAt(admission, ask, operation, signal, waits).then((release) => {
      if (release === 'expired') throw refuse(operation, facts, admission);
      if (release === 'dropped') throw dropped(facts, signal);
      return openRequest(admission, release, facts);
    });
  };

  const enter: Enter = (facts, signal) => {
    const { operation, url, api } = facts;
    // Never sent: it neither starts nor ends.
    if (signal?.aborted) throw operation.errors.abortUnsent(facts, signal);
    if (facts.isLocal) return atNoGate;
    // What has failed, and was told so, sends nothing more: not before its next attempt, or ever.
    if (
      operation.submission &&
      (operation.decision?.kind === 'stop' || operation.phase === 'waiting')
    )
      throw dropped(facts);
    const admission = origins.admissionOf(
      url,
      api?.partition,
      api?.concurrency && { concurrency: api.concurrency },
    );
    const early = operation.route.goTo(admission, facts);
    const permit = early ?? admission.enter(targetOf(operation, facts));
    if (!permit) return wait(admission, facts, signal);
    if (!early) operation.isUrged = false;
    return openRequest(admission, permit, facts);
  };

  return {
    ...surroundings,
    enter,
    origins,
    async pauseBefore(operation) {
      const { at } = operation.route;
      if (!at) return true;
      const { admission, sent } = at;
      const ask = askOf(operation, sent);
      const release = await pauseAt(admission, ask, operation, undefined, waits);
      if (release === 'expired') throw toClientError(refuse(operation, sent, admission), sent);
      if (release === 'dropped') return false;
      operation.route.keep(release);
      return true;
    },
  };
}

/** As a captive portal does to a connection without TLS. */
function isSentElsewhere(url: string, { redirected, url: end }: Response): boolean {
  const asked = redirected ? toUrl(url) : undefined;
  return asked?.protocol === 'http:' && asked.origin !== toUrl(end)?.origin;
}

const said: Readonly<Record<PauseReason, string>> = {
  offline: 'the device is offline',
  'server-down': 'its server is down',
  'rate-limited': 'its server asks for a pause',
  queued: 'no place was free',
};

/** The error of an attempt that its origin did not let go in time. */
function refuse(
  operation: Operation,
  facts: RequestFacts & SentRequest,
  admission: Admission,
): NotSentError {
  // What an earlier attempt may have done, this one does not undo.
  const processed = operation.effects.wasSent() ? 'unknown' : 'no';
  const { reason, retryAt } = admission.whyPaused(facts);
  const outcome: Failure = { kind: 'paused-too-long', reason, retryAt, processed };
  const error = new NotSentError(
    `${shown(facts.name)}: not sent, ${process.env.NODE_ENV === 'production' ? reason : said[reason]}.`,
    {
      operation: operation.view(facts),
      outcome,
      cause: operation.lastError ?? admission.lastFailure(),
    },
  );
  reportFailure(error, { ...facts, operation, failure: outcome });
  return error;
}
