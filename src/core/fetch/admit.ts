import type { Connectivity } from '../connectivity/connectivity.ts';
import type { PageLife } from '../connectivity/page-life.ts';
import type { RateLimitCode } from '../headers/rate-limit.ts';
import type { Clock, Random } from '../lib/clock.ts';
import { codeOf, type MadeBy } from '../lib/input/made-by.ts';
import { toUrl } from '../lib/input/url.ts';
import { toClientError } from '../operation/error-info.ts';
import type { SentRequest } from '../operation/facts.ts';
import { createError, isNotSentError, NotSentError } from '../operation/errors.ts';
import type { Operation } from '../operation/operation.ts';
import type { Operations } from '../operation/operations.ts';
import { unprovenOwner } from '../operation/owner.ts';
import { isSafeMethod } from '../policy/operation.ts';
import type { Admission } from '../origin/admission.ts';
import type { Network, OriginOptions } from '../origin/origin.ts';
import { Origins } from '../origin/origins.ts';
import type { Reach } from '../origin/health/unreadable.ts';
import type { Ask, Permit, Target } from '../origin/ask.ts';
import { type Failure, type FailureDetails, isRefusal, type Outcome } from '../policy/outcome.ts';
import type { FetchContext } from './attempt/attempt.ts';
import type { SteadyRequest } from './request.ts';
import { dropped, pausedText } from './attempt/failure.ts';
import { pauseAt } from './pause.ts';
import { type RecordOutcome, Sending } from './attempt/sending.ts';

/** The dependencies of admissions. */
interface AdmissionsContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly operations: Operations;
}

/** The network, the page and the options that all origins share. */
interface Surroundings {
  readonly connectivity: Pick<Connectivity, 'recordAnswer' | 'recordNoAnswer'>;
  readonly network: Network;
  /** How to find out whether an origin answers at all. */
  readonly reachOf: (origin: string) => Reach;
  /** How answers tell a rate limit. */
  readonly rateLimit?: MadeBy<'rateLimitFields'> | undefined;
  /** Undefined where there is no page. */
  readonly page?: PageLife | undefined;
  /** There is no page that could freeze. */
  readonly isOnServer: boolean;
  /** Whether the app is seen. Where nothing else tells whether a user waits, one does then. */
  readonly isSeen: () => boolean;
  /** Whether a write that no operation is known of may be of a mutation that needs no network. */
  readonly mayBeLocal: () => boolean;
}

/** The way out of an instance, past the admission of each origin. */
export interface Admissions extends Surroundings {
  readonly admit: FetchContext['admit'];
  /**
   * Waits before an attempt begins, where its operation has gone before. What it is given there, its
   * first request to that origin takes. Only where that is not open. @returns false when it was dropped.
   *
   * @throws NotSentError when its time is up.
   */
  readonly pauseBefore: (operation: Operation) => Promise<boolean>;
  readonly origins: Origins;
}

/** Makes the way out of an instance. */
export function createAdmissions(
  context: AdmissionsContext,
  options: OriginOptions,
  surroundings: Surroundings,
): Admissions {
  const { clock, random } = context;
  const { waits } = context.operations;
  const { connectivity, network, rateLimit } = surroundings;
  const origins = new Origins({ ...surroundings, clock, random, options });
  const recordOutcome = createRecorder(clock, connectivity, network, rateLimit);
  const grant = (request: SteadyRequest, admission: Admission, permit: Permit): Sending => {
    if (permit.isTrial) request.operation.route.recordTrial(clock.now());
    return new Sending(request, admission, permit, recordOutcome);
  };
  // Without an async function: thousands may be kept waiting.
  const wait = (request: SteadyRequest, admission: Admission): Promise<Sending> => {
    const { operation, signal } = request;
    const wanted = permitRequestOf(operation, request, surroundings);
    return pauseAt(admission, wanted, operation, signal, waits).then((release) => {
      if (release === 'expired') throw refuse(operation, request, admission);
      if (release === 'dropped') throw dropped(request, request.signal);
      return grant(request, admission, release);
    });
  };

  const admit: FetchContext['admit'] = (request) => {
    const { operation, signal, url, api } = request;
    // Never sent: it neither starts nor ends.
    if (signal?.aborted) throw operation.errors.abortUnsent(request, signal);
    if (request.isLocal) return undefined;
    if (isDecided(operation)) throw dropped(request);
    if (mayBeLocal(request, surroundings)) operation.attend(unprovenOwner);
    const { partition, concurrency } = api ?? {};
    const admission = origins.admissionOf(url, partition, concurrency && { concurrency });
    const early = operation.route.goTo(admission, request);
    const permit = early ?? admission.enter(request);
    if (!permit) return wait(request, admission);
    if (!early) operation.takeUrge();
    return grant(request, admission, permit);
  };

  return {
    ...surroundings,
    admit,
    origins,
    async pauseBefore(operation) {
      const { at } = operation.route;
      if (!at) return true;
      const wanted = permitRequestOf(operation, at.sent, surroundings);
      const release = await pauseAt(at.admission, wanted, operation, undefined, waits);
      if (release === 'expired') {
        const error = refuse(operation, at.sent, at.admission);
        throw isNotSentError(error) ? toClientError(error, at.sent) : error;
      }
      if (release === 'dropped') return false;
      operation.route.keep(release, at);
      return true;
    },
  };
}

/** After a decision an attempt sends nothing more: its next attempt does. */
const isDecided = ({ submission, errors, phase }: Operation): boolean =>
  !!submission && (errors.decision?.kind === 'stop' || phase.kind === 'waiting');

/** Whether it may be a write of a plain mutation that needs no network. */
const mayBeLocal = ({ operation, method }: SteadyRequest, around: Surroundings): boolean =>
  operation.isLone && around.network.isOffline() && !isSafeMethod(method) && around.mayBeLocal();

/** The request for admission of a request, or of the next attempt of an operation. */
function permitRequestOf(operation: Operation, sent: SentRequest, around: Surroundings): Ask {
  const { priority, whenDown, maxPauseMs } = operation.policyOf(sent);
  return {
    ...targetOf(operation, sent),
    priority,
    isForeground: operation.owner.foreground(operation.ref.kind, around.isSeen),
    ...operation.owner.retries(operation),
    isWish: priority !== 'background' && operation.attempt === 1 && operation.given.isWish,
    id: operation.ref.id,
    isFailFast: whenDown === 'fail',
    isOnServer: around.isOnServer,
    askedAt: operation.askedAt,
    // Where it would wait in vain there is no place for it; what a user wants now does not wait.
    maxPauseMs: operation.isUrged ? Infinity : maxPauseMs,
  };
}

const targetOf = (
  operation: Operation,
  { endpoint, resource, limitScope, risk }: SentRequest,
): Target => ({
  endpoint,
  resource,
  limitScope,
  risk,
  isNew: operation.attempt === 1,
  isOnce: operation.isOnce,
  mayBeOffline: operation.owner.mayBeOffline,
});

/** Makes what passes the outcomes of attempts on: to the limits, the watch over the network, and the origin. */
function createRecorder(
  clock: Clock,
  connectivity: Surroundings['connectivity'],
  network: Network,
  rateLimit: Surroundings['rateLimit'],
): RecordOutcome {
  const recordLimits = (
    { request, admission, sentAt }: Sending,
    outcome: Outcome,
    error: unknown,
    response: Response,
  ) => {
    const { status = 0, retryAfterMs }: FailureDetails = outcome;
    const { operation, limitScope, api } = request;
    // Retry-After takes precedence (draft-ietf-httpapi-ratelimit-headers).
    const isTold = retryAfterMs !== undefined && [429, 503, 529].includes(status);
    const fields = isTold ? undefined : codeOf<RateLimitCode>(api?.rateLimit ?? rateLimit);
    const limit = fields?.read(response.headers, clock.now());
    if (limit) admission.allow(limitScope, limit);
    if (isRefusal(outcome)) admission.refuse(limitScope, sentAt, retryAfterMs, error);
    // A server can hardly know how long its outage is: beyond the longest wait, it is probed.
    else if (isTold && retryAfterMs <= operation.policyOf(request).maxRetryAfterMs)
      admission.pause(limitScope, retryAfterMs, error);
  };
  return (sending, outcome, error, response) => {
    const { request, permit, sentAt } = sending;
    const { operation, url } = request;
    // First: a probe that is told to wait must release no other.
    if (response) recordLimits(sending, outcome, error, response);
    // A body at its headers, and 511: something else has answered, as a captive portal does.
    const isElsewhere = outcome.kind === 'http' && outcome.status === 511;
    if (!isElsewhere && !['network', 'timeout', 'body'].includes(outcome.kind)) {
      const isUnproven = operation.owner.isUnproven();
      if (response && !isUnproven && !isSentElsewhere(url, response))
        connectivity.recordAnswer(sentAt, clock.now(), url);
      // Where there may be no network, a service worker may have given the answer.
      permit.end(isUnproven && network.isDoubtful() ? undefined : outcome, error);
      return;
    }
    let isKnown = false;
    connectivity.recordNoAnswer(sentAt, url, (isItsDoing) => {
      isKnown = true;
      permit.end(isItsDoing ? outcome : undefined, error);
    });
    // Only the verdict waits for the check of the network.
    if (!isKnown) permit.free();
  };
}

/** As a captive portal does to a connection without TLS. */
function isSentElsewhere(url: string, { redirected, url: end }: Response): boolean {
  const asked = redirected ? toUrl(url) : undefined;
  return asked?.protocol === 'http:' && asked.origin !== toUrl(end)?.origin;
}

/**
 * The error of an attempt that its origin did not let go in time: where an attempt before it has failed, that failure,
 * which says more than that one more was not sent.
 */
function refuse(operation: Operation, request: SentRequest, admission: Admission): unknown {
  const { errors } = operation;
  const { reason, retryAt } = admission.whyPaused(targetOf(operation, request));
  if (errors.lastError !== undefined) return errors.recordExpiry(retryAt);
  // This one does not undo what an earlier submission, or another request of the attempt, may have done.
  const processed = operation.effects.wasSent() ? 'unknown' : 'no';
  const outcome: Failure = { kind: 'paused-too-long', reason, retryAt, processed };
  const text = `${pausedText[reason]}. The request was not sent.`;
  const limit = admission.origin.limits.causeOf(request.limitScope);
  const cause = (reason === 'rate-limited' ? limit : undefined) ?? admission.outcomes.lastFailure();
  return createError(NotSentError, text, operation, outcome, cause, { request });
}
