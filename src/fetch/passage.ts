import type { Connectivity } from '../connectivity/connectivity.ts';
import type { Gate } from '../origin/gate.ts';
import { checkOrigin, type OriginOptions } from '../origin/options.ts';
import { createOrigins, type Origins } from '../origin/origins.ts';
import { type Sign, signOf } from '../origin/sign.ts';
import type { Ask } from '../origin/waiting.ts';
import type { Clock, Random } from '../policy/clock.ts';
import { isIdempotentMethod, isSafeMethod } from '../policy/operation.ts';
import type { Policy } from '../policy/options.ts';
import type { Outcome } from '../policy/outcome.ts';
import { readRateLimit } from '../policy/rate-limit.ts';
import type { ApiFacts } from './api-profile.ts';
import type { RequestFacts } from './failure-report.ts';
import { holdAt } from './hold.ts';
import type { Outlive } from './outlive.ts';
import type { LiveOperation } from './live-operation.ts';
import type { Operations } from './operations.ts';
import { refuse } from './refuse.ts';

/** Tells the origin how an attempt ended, at its headers; only the first word counts. */
type Settle = (outcome: Outcome, error?: unknown, response?: Response) => void;

/**
 * The way out: at once when all is well, and otherwise when the origin lets it go; undefined when
 * it is no longer wanted.
 *
 * @throws NotSentError when it may not go.
 */
export type Enter = (
  name: string,
  facts: SentFacts,
  policy: Policy,
  api: ApiFacts | undefined,
  signal: AbortSignal | undefined,
) => Settle | Promise<Settle | undefined>;

/** What is known of a request of ours. */
export type SentFacts = RequestFacts & Required<Pick<RequestFacts, 'live' | 'method' | 'url'>>;

type GateAsk = Omit<Ask, 'onHold'>;

/** What the way out stands on. */
export interface PassageContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly operations: Operations;
}

/** What lies in front of all origins. */
export interface Surroundings {
  readonly connectivity: Connectivity;
  /** Undefined where there is no page. */
  readonly page?: Outlive | undefined;
}

/** The way out of an instance, past the gates of the origins. */
export interface Passage extends Surroundings {
  readonly enter: Enter;
  /**
   * Waits before an attempt begins, where its operation has gone before. What it is given there, its
   * first request to that gate takes. Only where its gate is not open.
   *
   * @throws NotSentError when its time is up.
   */
  readonly holdBefore: (live: LiveOperation) => Promise<void>;
  /** An attempt is over: a turn that it has not taken goes back. */
  readonly giveBack: (live: LiveOperation) => void;
  readonly origins: Origins;
}

const nothing: Sign = { kind: 'nothing' };

export function createPassage(
  context: PassageContext,
  options: OriginOptions = {},
  surroundings: Surroundings,
): Passage {
  const { clock, random } = context;
  const { connectivity, page } = surroundings;
  checkOrigin('createSteadfetch: origin', options);
  const origins = createOrigins(clock, random, options, connectivity.network);

  // Apart, so that the way of a request that goes at once makes one function and no more.
  const settleAt = (
    gate: Gate,
    name: string,
    api: ApiFacts | undefined,
    isCanary: boolean,
    { live, url }: SentFacts,
  ): Settle => {
    const sentAt = clock.now();
    let isOver = false;
    return (outcome, error, response) => {
      if (isOver) return;
      isOver = true;
      const now = clock.now();
      const isFailure = outcome.kind === 'http';
      const retryAfterMs = isFailure ? outcome.retryAfterMs : undefined;
      // First: a canary that is told to wait must release nobody.
      // Retry-After takes precedence (draft-ietf-httpapi-ratelimit-headers).
      if (response && retryAfterMs !== undefined && [429, 503].includes(response.status)) {
        gate.pause(retryAfterMs);
      } else if (response && (isFailure || api?.rateLimit || gate.isLimitExpected())) {
        const limit = readRateLimit((field) => response.headers.get(field), now, api?.rateLimit);
        gate.allow(limit);
      }
      const { kind } = outcome;
      const judge = (isItsDoing: boolean): void =>
        gate.settle(
          name,
          isCanary,
          isItsDoing ? signOf(outcome) : nothing,
          clock.now() - sentAt,
          error,
        );
      if (kind !== 'network' && kind !== 'timeout') {
        if (response && !live.isUnproven?.()) connectivity.answered(sentAt, now, url);
        judge(true);
      } else if (page?.isCutOff(Object(error).cause)) judge(false);
      else connectivity.failed(sentAt, url, judge);
    };
  };
  const wait = async (
    gate: Gate,
    ask: GateAsk,
    name: string,
    facts: SentFacts,
    api: ApiFacts | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Settle | undefined> => {
    const release = await holdAt(gate, ask, facts.live, signal, context);
    if (release === 'expired') throw refuse(facts.live, facts, gate, false);
    return release === 'dropped'
      ? undefined
      : settleAt(gate, name, api, release === 'canary', facts);
  };

  const enter: Enter = (name, facts, policy, api, signal) => {
    const { live, method, url } = facts;
    const { pass, attempt } = live;
    const gate = origins.gateOf(url, api?.partition, api?.slots && { slots: api.slots });
    const isRepeatable = facts.keyed || facts.idempotent || isIdempotentMethod(method);
    const ask: GateAsk = {
      endpoint: name,
      risk: isSafeMethod(method) ? 0 : isRepeatable ? 1 : 2,
      isNew: attempt === 1,
      priority: policy.priority,
      isResumed: live.isResumed,
      mayBeOffline: live.mayBeOffline,
      isFailFast: policy.whenDown === 'fail',
      holdMs: policy.holdMs,
    };
    live.gate = gate;
    live.ask = ask;
    if (pass?.gate === gate) {
      live.pass = undefined;
      return settleAt(gate, name, api, pass.isCanary, facts);
    }
    const isCharged = attempt > 1 && live.paidFor !== attempt;
    live.paidFor = attempt;
    if (!gate.tryEnter(attempt === 1, live.isResumed, live.mayBeOffline))
      return wait(gate, ask, name, facts, api, signal);
    if (live.isUrged) live.isUrged = false;
    const { budget } = gate;
    if (!isCharged || (facts.keyed ? budget.charge() : budget.spend())) {
      return settleAt(gate, name, api, false, facts);
    }
    gate.settle(name, false, nothing, 0);
    throw refuse(live, facts, gate, true);
  };

  return {
    ...surroundings,
    enter,
    origins,
    async holdBefore(live) {
      const { gate, ask } = live;
      if (!gate || !ask) return;
      const { attempt, isResumed, mayBeOffline } = live;
      const again = { ...ask, isNew: attempt === 1, isResumed, mayBeOffline };
      const release = await holdAt(gate, again, live, undefined, context);
      if (release === 'expired') throw refuse(live, {}, gate, false);
      if (release !== 'dropped') live.pass = { gate, isCanary: release === 'canary' };
    },
    giveBack(live) {
      const { pass } = live;
      live.pass = undefined;
      pass?.gate.settle('', pass.isCanary, nothing, 0);
    },
  };
}
