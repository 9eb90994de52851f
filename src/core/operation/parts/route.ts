import type { Admission } from '../../origin/admission.ts';
import type { Permit } from '../../origin/ask.ts';
import { type Failure, isRefusal } from '../../policy/outcome.ts';
import type { RequestFacts, SentRequest } from '../facts.ts';

/** The origin's view of an attempt that failed there. */
export interface FailureThere {
  /** The attempt was a trial, or was refused for a known rate limit: it uses up no retry. */
  readonly isTrial: boolean;
  /**
   * While this probe hung, others were answered there: its user has waited long enough, so the next attempt
   * has no wait.
   */
  readonly isLate: boolean;
  /** The next attempt is paused there for an outage. */
  readonly isDown: boolean;
  /** How long a rate limit blocks requests there, in milliseconds. */
  readonly limitedMs: number;
  /**
   * True if the URL fails again while others of its endpoint answer, or the page may not read the answers, so that the
   * next attempt is not paused.
   */
  readonly isUnpaused: boolean;
  /** True if the failure is isolated and not a trial's, so that an immediate retry may find the endpoint healthy. */
  readonly isAlone: boolean;
}

/** A request of ours that has asked for admission, as the target of others. */
export type Destination = SentRequest & { readonly admission: Admission };

/** Where the requests of an operation go. Its next attempt waits there before it begins. */
export class Route {
  /**
   * The target of the request that is under way. Then that of the one which has failed the attempt, or else of the latest
   * that was answered: the failure of another one was no hindrance.
   */
  at: Destination | undefined;
  #answered: Destination | undefined;
  #trialAt = Infinity;
  /** A permit that was granted before the attempt began, for its first request to this target. */
  #kept: { readonly permit: Permit; readonly at: Destination } | undefined;

  constructor(at: Destination | undefined) {
    this.at = at;
  }

  /** The target, if it or its origin is down. A request to it may be let go all the same: see `FailureThere.isDown`. */
  down(): Destination | undefined {
    const at = this.at;
    return at?.admission.origin.health.isDown(at.endpoint) ? at : undefined;
  }

  /** Records the target of the next request. @returns the permit that was granted for it before its attempt began. */
  goTo(at: Destination): Permit | undefined {
    const kept = this.#kept;
    this.at = at;
    if (!kept || !isSame(kept.at, at)) return undefined;
    this.#kept = undefined;
    return kept.permit;
  }

  /** Records how a request has ended. */
  recordEnd(sent: SentRequest, isAnswered: boolean): void {
    const place = placeOf(sent) ?? this.at;
    if (isAnswered) this.#answered = place;
    this.at = this.#answered ?? place;
  }

  /** Keeps a permit for the attempt that is about to begin: for its first request to this target. */
  keep(permit: Permit, at: Destination): void {
    this.#kept = { permit, at };
  }

  /** Records that a request of the current attempt is a trial: a probe, or released just after recovery. */
  recordTrial(sentAt: number): void {
    this.#trialAt = sentAt;
  }

  /** Returns a permit that the attempt has not used. */
  returnPermit(): void {
    const kept = this.#kept;
    this.#kept = undefined;
    kept?.permit.end(undefined, undefined, true);
  }

  /** Reads what the origin knows about an attempt that failed with this request, where one is known. */
  fail(failure: Failure, nowMs: number, request?: RequestFacts): Partial<FailureThere> {
    const at = (this.at = placeOf(request) ?? this.at);
    if (!at) return {};
    const { admission, endpoint, resource, risk, mayBeOffline } = at;
    const { health, limits } = admission.origin;
    const trialAt = this.#trialAt;
    this.#trialAt = Infinity;
    const isSlowByNature = failure.kind === 'timeout' && health.isBroken(endpoint);
    const limitedMs = Math.ceil(limits.until(at) - nowMs);
    return {
      // A known rate limit is waited for until the deadline, however often it refuses. A probe is sent for
      // all who wait, so it is not a retry of this operation. An endpoint that times out while the rest of
      // its origin answers will be slow again, so its timeouts do use up retries.
      isTrial: (isRefusal(failure) && limitedMs > 0) || (trialAt < Infinity && !isSlowByNature),
      isLate: trialAt <= admission.outcomes.recoveredAt,
      isDown:
        health.downFor({ endpoint, resource, risk, mayBeOffline, isNew: false }) !== undefined,
      limitedMs,
      isUnpaused:
        (health.isUrlBroken(at) && health.failing.failures(resource) > 1) ||
        admission.outcomes.unreadable.has(endpoint),
      isAlone: trialAt === Infinity && health.isAlone(endpoint),
    };
  }
}

/** A request, as a target, if it is ours and has asked for admission. */
const placeOf = (request: RequestFacts | undefined): Destination | undefined =>
  (request as Partial<Destination> | undefined)?.admission && (request as Destination);

/** Whether a permit for one of them lets a request to the other go. */
const isSame = (one: Destination, other: Destination): boolean =>
  one.admission === other.admission &&
  one.endpoint === other.endpoint &&
  one.limitScope === other.limitScope;
