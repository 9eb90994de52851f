import type { Admission } from '../../origin/admission.ts';
import type { Permit } from '../../origin/ask.ts';
import { type Failure, isRefusal } from '../../policy/outcome.ts';
import type { SentRequest } from '../facts.ts';

/** What an origin says of an attempt that has failed there. */
export interface FailureThere {
  /** It was a trial, or refused for a rate limit that is known: it uses up no retry. */
  readonly isTrial: boolean;
  /** Others were answered there while this probe hung: it is late enough for its user, and goes without a wait. */
  readonly isLate: boolean;
  /** Its next attempt is paused there. */
  readonly isDown: boolean;
  /** How long it sends nothing there by a rate limit, in milliseconds. */
  readonly limitedMs: number;
  /** It stands alone, and is no trial: a retry that follows at once may find the endpoint well. */
  readonly isAlone: boolean;
}

/** Where the latest request went. */
export interface Destination {
  readonly admission: Admission;
  readonly sent: SentRequest;
}

/** Where the requests of an operation go: its next attempt waits there before it begins. */
export class Route {
  /** Where the latest went. */
  at: Destination | undefined;
  #trialAt = Infinity;
  /** A permit that was given before the attempt began, for its first request that goes there. */
  #permit: Permit | undefined;

  constructor(at: Destination | undefined) {
    this.at = at;
  }

  /** The same where that is down. */
  down(): Destination | undefined {
    const at = this.at;
    return at?.admission.isDown(at.sent.endpoint) ? at : undefined;
  }

  /** A request is to go there. @returns the permit that was given for it before its attempt began. */
  goTo(admission: Admission, sent: SentRequest): Permit | undefined {
    const permit = this.at?.admission === admission ? this.#permit : undefined;
    if (permit) this.#permit = undefined;
    this.at = { admission, sent };
    return permit;
  }

  /** A permit for the first request of the attempt that is about to begin. */
  keep(permit: Permit): void {
    this.#permit = permit;
  }

  /** A request of its present attempt is sent as a trial: a probe, or let go once its origin was back. */
  recordTrial(sentAt: number): void {
    this.#trialAt = sentAt;
  }

  /** The attempt is over: a permit that it has not taken goes back. */
  returnPermit(): void {
    const permit = this.#permit;
    this.#permit = undefined;
    permit?.settle(undefined, undefined, true);
  }

  /** An attempt has failed. */
  fail(failure: Failure, nowMs: number): FailureThere {
    const at = this.at;
    if (!at) return nowhere;
    const { admission, sent } = at;
    const { health, limits } = admission.origin;
    const trialAt = this.#trialAt;
    this.#trialAt = Infinity;
    const isSlowByNature = failure.kind === 'timeout' && health.isBroken(sent.endpoint);
    const limitedMs = Math.ceil(limits.until(sent.limitScope) - nowMs);
    return {
      // A rate limit that is known is waited for until the deadline, however often it refuses.
      // A probe was sent for all who wait: it is no retry of this operation's. But what is slow where
      // the rest of its origin answers will be slow again.
      isTrial: (isRefusal(failure) && limitedMs > 0) || (trialAt < Infinity && !isSlowByNature),
      isLate: trialAt <= admission.outcomes.recoveredAt(),
      isDown: !!this.down(),
      limitedMs,
      isAlone: trialAt === Infinity && health.isAlone(sent.endpoint),
    };
  }
}

const nowhere: FailureThere = {
  isTrial: false,
  isLate: false,
  isDown: false,
  limitedMs: 0,
  isAlone: false,
};
