import type { Clock, Random } from '../policy/clock.ts';
import type { RateLimitState } from '../policy/rate-limit.ts';
import { type Budget, createBudget } from './budget.ts';
import { type Circuit, createCircuit } from './circuit.ts';
import { createDemand } from './demand.ts';
import { createEvidence } from './evidence.ts';
import { createFollowing } from './following.ts';
import { createLimit, type Limit } from './limit.ts';
import { createLimitLook } from './limit-look.ts';
import { type Network, openNetwork } from './network.ts';
import type { OriginOptions } from './options.ts';
import { createOutlook, type Outlook } from './outlook.ts';
import type { Pace } from './pace.ts';
import { createRelease } from './release.ts';
import type { Ear, Line } from './share.ts';
import type { Sign } from './sign.ts';
import { createSlots, type Slots } from './slots.ts';
import { ruleOf } from './trip-rule.ts';
import { createTurns, type Turns } from './turns.ts';
import type { Waiters } from './waiters.ts';

type Judge = (
  endpoint: string,
  isCanary: boolean,
  sign: Sign,
  latencyMs: number,
  error?: unknown,
) => void;

/** What every attempt to an origin passes. */
export interface Gate extends Omit<Outlook, 'isQueue' | 'update'>, Omit<Turns, 'recover' | 'pump'> {
  readonly budget: Budget;
  readonly circuit: Circuit;
  readonly limit: Limit;
  readonly pace: Pace;
  readonly slots: Slots;
  /** Whether something may go at once; and then it has gone. */
  readonly tryEnter: (isNew: boolean, isResumed?: boolean, mayBeOffline?: boolean) => boolean;
  /** An attempt that has gone is over, at its headers: its place is free, and this is what it shows. */
  readonly settle: Judge;
  /** Its place is free, and what it shows is said later, by `judge`. */
  readonly free: () => void;
  readonly judge: Judge;
  /** The error of the last attempt that showed an outage. */
  readonly lastFailure: () => unknown;
  /** A rate limit was told. */
  readonly pause: (retryAfterMs: number) => void;
  /** What RateLimit said in an answer; undefined when it said nothing. */
  readonly allow: (limit: RateLimitState | undefined) => void;
  /** Whether to look for RateLimit: in every answer of an origin that sends it, else now and then. */
  readonly isLimitExpected: () => boolean;
}

/** Whom the requests of a minute belong to: long enough for a tab with one in five seconds. */
const demandMs = 60_000;

export function createGate(
  clock: Clock,
  random: Random,
  { budget: budgetOptions, circuit: ruleOptions, slots: slotOptions = {} }: OriginOptions,
  join?: (ear: Ear) => Line,
  network: Network = openNetwork,
): Gate {
  const slots = createSlots(slotOptions);
  const demand = createDemand(demandMs);
  const budget = createBudget(budgetOptions === false ? { maxTokens: Infinity } : budgetOptions);
  const rule = ruleOf(clock, ruleOptions);
  const circuit = createCircuit(clock, random, rule, demand);
  const limit = createLimit(clock, random);
  const limitLook = createLimitLook();
  const release = createRelease(clock, random);
  const waiters: Waiters = { list: [] };
  const evidence = createEvidence(clock, circuit, rule, budget, release);
  const outlook = createOutlook(network, circuit, limit, slots, release);

  const line = join?.({
    hear(word) {
      if (word.kind === 'limit') return restrict(word.remaining, word.until);
      if (ruleOptions === false) return;
      if (word.kind === 'down') release.stop();
      following.hear(word, waiters.list.length);
      pump();
    },
    lead() {
      following.lead();
      pump();
    },
  });
  const following = createFollowing(clock, random, circuit, line);
  const turns = createTurns({
    clock,
    random,
    network,
    slotOptions,
    circuit,
    rule,
    limit,
    slots,
    release,
    evidence,
    following,
    outlook,
    waiters,
  });
  const { pump, recover } = turns;

  const restrict = (remaining: number, resetAt: number): void => {
    limit.allow(remaining - slots.getState(), resetAt);
    if (limit.isHolding()) pump();
  };
  const judge: Judge = (endpoint, isCanary, sign, latencyMs, error) => {
    const wasClosed = circuit.isClosed();
    const shown = evidence.see(endpoint, isCanary, sign, latencyMs, error);
    if (shown === 'recovery') {
      following.sayUp();
      recover(clock.now());
    }
    if (!circuit.isClosed() && (isCanary || wasClosed)) following.sayDown();
    if (shown === 'outage' || waiters.list.length > 0 || outlook.getState().status !== 'up') pump();
  };

  return {
    ...outlook,
    ...turns,
    budget,
    circuit,
    limit,
    pace: release.pace,
    slots,
    lastFailure: evidence.lastFailure,
    tryEnter(isNew, isResumed, mayBeOffline) {
      if (isNew) demand.add(clock.now());
      if (!outlook.isOpen(mayBeOffline)) return false;
      if (!isNew && (limit.isSpreading() || limit.isPaused() || release.isUnderWay())) return false;
      if (isResumed && !release.admits(waiters.list.length)) return false;
      slots.take();
      if (limit.spend()) pump();
      return true;
    },
    settle(...shown) {
      slots.free();
      judge(...shown);
    },
    free() {
      slots.free();
      if (waiters.list.length > 0) pump();
    },
    judge,
    pause(retryAfterMs) {
      limit.pause(retryAfterMs);
      following.sayLimit(limit.getState().until, 0);
      pump();
    },
    isLimitExpected: limitLook.isDue,
    allow(told) {
      limitLook.saw(told !== undefined);
      if (!told) return;
      const { remaining, resetAt } = told;
      following.sayLimit(resetAt, remaining);
      // Its own attempt is not settled yet, and is counted in what is left.
      restrict(remaining + 1, resetAt);
    },
  };
}
