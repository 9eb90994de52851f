import type { RateLimitCode } from '../headers/rate-limit.ts';
import { codeOf } from '../lib/input/made-by.ts';
import { toUrl } from '../lib/input/url.ts';
import { toClientError } from '../operation/error-info.ts';
import type { SentRequest } from '../operation/facts.ts';
import { createError, isNotSentError, NotSentError } from '../operation/errors.ts';
import type { Operation } from '../operation/operation.ts';
import { unprovenOwner } from '../operation/owner.ts';
import { isSafeMethod } from '../policy/operation.ts';
import type { Destination } from '../operation/parts/route.ts';
import { Origins, type OriginsContext } from '../origin/origins.ts';
import type { Ask, Permit, Target } from '../origin/ask.ts';
import { type Failure, type FailureDetails, isRefusal, type Outcome } from '../policy/outcome.ts';
import type { FetchContext } from './attempt/attempt.ts';
import type { EnteredRequest, SteadyRequest } from './request.ts';
import { dropped, pausedText } from './attempt/failure.ts';
import { optionOf } from './init.ts';
import { pauseAt, type Release } from './pause.ts';
import { type RecordOutcome, Sending } from './attempt/sending.ts';

/** The dependencies of admissions: those of all origins, and how to know who waits for what. */
interface AdmissionsContext
  extends OriginsContext, Pick<FetchContext, 'operations' | 'connectivity' | 'rateLimit'> {
  /** A server has no page that could freeze. */
  readonly isOnServer: boolean;
  /** Whether the app is visible. If nothing else tells whether a user waits, this does. */
  readonly isSeen: () => boolean;
  /** Whether a lone write may belong to a mutation that needs no network. */
  readonly mayBeLocal: () => boolean;
}

/** Admission to all origins of an instance. */
export interface Admissions {
  readonly admit: FetchContext['admit'];
  /**
   * Waits before an attempt begins, at the origin of its operation's latest request. The first request of the attempt to
   * that origin uses the permit. Called only if the origin is not open. @returns false if the wait was dropped.
   *
   * @throws NotSentError when its time is up.
   */
  readonly pauseBefore: (operation: Operation) => Promise<boolean>;
  readonly origins: Origins;
}

/** Creates the admissions of an instance. */
export function createAdmissions(context: AdmissionsContext): Admissions {
  const { clock } = context;
  const { waits } = context.operations;
  const origins = new Origins(context);
  const recordOutcome = createRecorder(context);
  const pause = (operation: Operation, at: Destination, signal?: AbortSignal): Promise<Release> => {
    const wanted = permitRequestOf(operation, at, context);
    return pauseAt(at.admission, wanted, operation, signal, waits);
  };
  const grant = (request: EnteredRequest, permit: Permit): Sending => {
    if (permit.isTrial) request.operation.route.recordTrial(clock.now());
    return new Sending(request, permit, recordOutcome);
  };
  // No async function, because thousands of requests may wait here.
  const wait = (request: EnteredRequest): Promise<Sending> => {
    const { operation, signal } = request;
    return pause(operation, request, signal).then((release) => {
      if (release === 'expired') throw refuse(operation, request);
      if (release === 'dropped') throw dropped(request, request.signal);
      return grant(request, release);
    });
  };

  const admit: FetchContext['admit'] = (request) => {
    const { operation, signal, url, api } = request;
    // The request is never sent, so neither a start nor an end is emitted.
    if (signal?.aborted) throw operation.errors.abortUnsent(request, signal);
    if (request.isLocal) return undefined;
    if (isDecided(operation)) throw dropped(request);
    if (mayBeLocal(request, context)) operation.attend(unprovenOwner);
    const { partition, concurrency } = api ?? {};
    const admission = origins.admissionOf(url, partition, concurrency && { concurrency });
    const entered = request.enter(admission);
    const early = operation.route.goTo(entered);
    const permit = early ?? admission.enter(request);
    if (!permit) {
      if (mustGoNow(entered)) operation.urge();
      return wait(entered);
    }
    if (!early) operation.takeUrge();
    return grant(entered, permit);
  };

  return {
    admit,
    origins,
    async pauseBefore(operation) {
      const { at } = operation.route;
      if (!at) return true;
      const release = await pause(operation, at);
      if (release === 'expired') {
        const error = refuse(operation, at);
        throw isNotSentError(error) ? toClientError(error, at) : error;
      }
      if (release === 'dropped') return false;
      operation.route.keep(release, at);
      return true;
    },
  };
}

/**
 * Whether its page may be gone before a pause ends, as the app says by `keepalive`. A limit holds it all the same, because it
 * would be refused, and so does any pause once it has failed: then the page is still there.
 */
const mustGoNow = (request: EnteredRequest): boolean =>
  !!optionOf(request.passed, request.init, 'keepalive') &&
  request.operation.attempt === 1 &&
  request.admission.origin.limits.until(request) === -Infinity;

/** Whether the attempt was decided about: then it sends nothing more, and only the next attempt does. */
const isDecided = ({ submission, errors, phase }: Operation): boolean =>
  !!submission && (errors.decision?.kind === 'stop' || phase.kind === 'waiting');

/** Whether it may be a write of a plain mutation that needs no network. */
const mayBeLocal = ({ operation, method }: SteadyRequest, around: AdmissionsContext): boolean =>
  operation.isLone && around.network.isOffline() && !isSafeMethod(method) && around.mayBeLocal();

/** The request for admission of a request, or of the next attempt of an operation. */
function permitRequestOf(operation: Operation, sent: SentRequest, around: AdmissionsContext): Ask {
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
    // A user who pressed Try now is not refused because of a long pause.
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

/** Makes the function that records the outcome of a request: in the rate limits, the connectivity and the origin. */
function createRecorder({
  clock,
  connectivity,
  network,
  rateLimit,
}: AdmissionsContext): RecordOutcome {
  const recordLimits = (
    { request, sentAt }: Sending,
    outcome: Outcome,
    error: unknown,
    response: Response,
  ) => {
    const { status = 0, retryAfterMs }: FailureDetails = outcome;
    const { operation, endpoint, limitScope, api, admission } = request;
    const code = codeOf<RateLimitCode>(api?.rateLimit ?? rateLimit);
    if (code?.isOff) return;
    // Retry-After takes precedence (draft-ietf-httpapi-ratelimit-headers).
    const isTold = retryAfterMs !== undefined && [429, 503, 529].includes(status);
    const limit = isTold ? undefined : code?.read(response.headers, clock.now());
    if (limit) admission.allow(limitScope, limit);
    // The profile of an API may say that its limit is of all its URLs.
    const resource = limitScope === endpoint ? request.resource : undefined;
    if (isRefusal(outcome))
      admission.origin.limits.refuse(limitScope, sentAt, retryAfterMs, error, resource);
    // A Retry-After beyond the longest wait is not believed: a server hardly knows how long its outage lasts.
    else if (isTold && retryAfterMs <= operation.policyOf(request).maxRetryAfterMs)
      admission.origin.limits.pause(limitScope, retryAfterMs, error);
  };
  return (sending, outcome, error, response) => {
    const { request, permit, sentAt } = sending;
    const { operation, url } = request;
    // Limits first: a probe that gets a Retry-After must not release other requests.
    if (response) recordLimits(sending, outcome, error, response);
    // An unexpected body or a 511 means that something else has answered, such as a captive portal.
    const isElsewhere = outcome.kind === 'http' && outcome.status === 511;
    if (!isElsewhere && !['network', 'timeout', 'body'].includes(outcome.kind)) {
      const isUnproven = operation.owner.isUnproven();
      if (response && !isUnproven && !isSentElsewhere(url, response))
        connectivity.recordAnswer(sentAt, clock.now(), url);
      // Without a network, a service worker may have given the answer.
      permit.end(isUnproven && network.isDoubtful() ? undefined : outcome, error);
      return;
    }
    let isKnown = false;
    connectivity.recordNoAnswer(sentAt, url, (isItsDoing) => {
      isKnown = true;
      permit.end(isItsDoing ? outcome : undefined, error);
    });
    // The slot is freed now. Only the outcome waits for the check of the network.
    if (!isKnown) permit.free();
  };
}

/** Whether another origin has answered, as a captive portal does on a connection without TLS. */
function isSentElsewhere(url: string, { redirected, url: end }: Response): boolean {
  const asked = redirected ? toUrl(url) : undefined;
  return asked?.protocol === 'http:' && asked.origin !== toUrl(end)?.origin;
}

/**
 * The error of an attempt that was not admitted in time. If an earlier attempt has failed, its failure, because that says
 * more.
 */
function refuse(operation: Operation, request: Destination): unknown {
  const { admission } = request;
  const { errors } = operation;
  const { reason, retryAt } = admission.whyPaused(targetOf(operation, request));
  if (errors.lastError !== undefined) return errors.recordExpiry(retryAt);
  // An earlier submission, or another request of the attempt, may have been done.
  const processed = operation.effects.wasSent() ? 'unknown' : 'no';
  const outcome: Failure = { kind: 'paused-too-long', reason, retryAt, processed };
  const text = `${pausedText[reason]}. The request was not sent.`;
  const limit = admission.origin.limits.causeOf(request.limitScope);
  const cause = (reason === 'rate-limited' ? limit : undefined) ?? admission.outcomes.lastFailure;
  return createError(NotSentError, text, operation, outcome, cause, { request });
}
