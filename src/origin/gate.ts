import type { Clock, Random } from '../policy/clock.ts';
import type { HoldReason } from '../policy/outcome.ts';
import type { RateLimitState } from '../policy/rate-limit.ts';
import { createAlarm } from './alarm.ts';
import { type Budget, createBudget } from './budget.ts';
import { between } from './between.ts';
import { type Circuit, createCircuit } from './circuit.ts';
import { createDemand } from './demand.ts';
import { createEvidence } from './evidence.ts';
import { createFollowing } from './following.ts';
import { createLimit, type Limit } from './limit.ts';
import { createLimitLook } from './limit-look.ts';
import { type Network, openNetwork } from './network.ts';
import type { OriginOptions } from './options.ts';
import type { Pace } from './pace.ts';
import { createRelease } from './release.ts';
import type { Ear, Line } from './share.ts';
import type { Sign } from './sign.ts';
import { createSlots, type Slots } from './slots.ts';
import { createStore, type Readable } from './store.ts';
import { ruleOf } from './trip-rule.ts';
import { type Ask, canaryOf, type Held, nextOf, type Turn, type Waiter } from './waiting.ts';

/** How an origin is. */
export interface OriginState {
  readonly status: 'up' | 'recovering' | 'down' | 'rate-limited';
  /** When it is tried next, or takes requests again, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: number | undefined;
  /** Attempts that wait. */
  readonly waiting: number;
}

type Judge = (
  endpoint: string,
  isCanary: boolean,
  sign: Sign,
  latencyMs: number,
  error?: unknown,
) => void;

/** What every attempt to an origin passes. */
export interface Gate extends Readable<OriginState> {
  readonly budget: Budget;
  readonly circuit: Circuit;
  readonly limit: Limit;
  readonly pace: Pace;
  readonly slots: Slots;
  /** Whether something new may go at once; also something that need not leave the device. */
  readonly isOpen: (mayBeOffline?: boolean) => boolean;
  /** The same, and then it has gone. */
  readonly tryEnter: (isNew: boolean, isResumed?: boolean, mayBeOffline?: boolean) => boolean;
  /** Waits for a turn. `undefined` when no place to wait is left. */
  readonly wait: (ask: Ask, take: (turn: Turn) => void) => Waiter | undefined;
  /** No longer wanted. */
  readonly leave: (waiter: Waiter) => void;
  /** Goes now, whatever is known of the origin. */
  readonly force: (waiter: Waiter) => void;
  /** Asked for again: its wait starts anew. */
  readonly renew: (waiter: Waiter) => void;
  /** An attempt that has gone is over, at its headers: its place is free, and this is what it shows. */
  readonly settle: Judge;
  /** Its place is free, and what it shows is said later, by `judge`. */
  readonly free: () => void;
  readonly judge: Judge;
  /** Why something new would wait now, and until when as far as is known. */
  readonly whyHeld: () => Held;
  /** The error of the last attempt that showed an outage. */
  readonly lastFailure: () => unknown;
  /** A rate limit was told. */
  readonly pause: (retryAfterMs: number) => void;
  /** What RateLimit said in an answer; undefined when it said nothing. */
  readonly allow: (limit: RateLimitState | undefined) => void;
  /** Who waits goes on as before; what is only shown is not kept up to date any more. */
  readonly dispose: () => void;
  /** Whether to look for RateLimit: in every answer of an origin that sends it, else now and then. */
  readonly isLimitExpected: () => boolean;
}

/** What was asked for this shortly before a recovery is as good as new, and goes at once. */
const freshMs = 2000;

/** Whom the requests of a minute belong to: long enough for a tab with one in five seconds. */
const demandMs = 60_000;

export function createGate(
  clock: Clock,
  random: Random,
  { budget: budgetOptions, circuit: ruleOptions, slots: slotOptions = {} }: OriginOptions,
  join?: (ear: Ear) => Line,
  network: Network = openNetwork,
): Gate {
  const { maxQueued = Infinity, queueTimeoutMs = Infinity } = slotOptions;
  const slots = createSlots(slotOptions);
  const demand = createDemand(demandMs);
  const budget = createBudget(budgetOptions === false ? { maxTokens: Infinity } : budgetOptions);
  const rule = ruleOf(clock, ruleOptions);
  const circuit = createCircuit(clock, random, rule, demand);
  const limit = createLimit(clock, random);
  const limitLook = createLimitLook();
  const release = createRelease(clock, random);
  const evidence = createEvidence({ clock, circuit, rule, budget, release });
  const { failedProbes } = evidence;
  const store = createStore<OriginState>({ status: 'up', retryAt: undefined, waiting: 0 });

  let waiters: readonly Waiter[] = [];
  let heldSince = 0;
  /** Of that time, what the machine was asleep. */
  let asleepForMs = 0;
  let isDisposed = false;
  /** The origin has asked for a pause, and nothing has been released since. */
  let isPaused = false;
  const { isOffline, heart } = network;
  let wasOffline = isOffline();

  /** Nothing but a free place is waited for. */
  const isQueue = (): boolean => circuit.isClosed() && !limit.isHolding() && !isOffline();
  const isOpen: Gate['isOpen'] = (mayBeOffline = false) =>
    circuit.isClosed() && !limit.isHolding() && slots.isFree() && (mayBeOffline || !isOffline());
  /** After a pause, what is not new comes back bit by bit. */
  const isSpreading = (): boolean => clock.now() < limit.getState().releaseAt;
  const isLimited = (): boolean => limit.isHolding() || (isPaused && isSpreading());
  const reason = (): HoldReason => {
    if (isOffline()) return 'offline';
    return isLimited() ? 'rate-limited' : circuit.isClosed() ? 'queued' : 'server-down';
  };
  const status = (): OriginState['status'] => {
    if (isLimited()) return 'rate-limited';
    if (!circuit.isClosed()) return 'down';
    return release.isRecovery() ? 'recovering' : 'up';
  };
  const retryAt = (): number | undefined => {
    if (isLimited()) return limit.getState().releaseAt;
    // Nobody knows when a canary comes back, or whose turn is when.
    if (circuit.isClosed() || circuit.isProbing()) return undefined;
    const at = Math.max(circuit.timerAt(), limit.getState().releaseAt);
    return at < Infinity ? at : undefined;
  };
  /** The same for what waits: the origin itself is not to blame for a device that is offline. */
  const heldUntil = (): number | undefined => (isOffline() ? network.retryAt() : retryAt());

  const whyHeld = (): Held => ({ reason: reason(), retryAt: heldUntil() });
  const tellHeld = (waiter: Waiter, held: Held): void => {
    const { told, ask } = waiter;
    // It may have left while others were told.
    if (waiter.isGone || (told?.reason === held.reason && told.retryAt === held.retryAt)) return;
    waiter.told = held;
    ask.onHold(held);
  };
  const tellAll = (): void => {
    const held = whyHeld();
    for (const waiter of waiters) tellHeld(waiter, held);
  };
  const tell = (): void => {
    const before = store.getState();
    const [now, at, waiting] = [status(), retryAt(), waiters.length];
    const isSame = before.status === now && before.retryAt === at;
    if (isSame && before.waiting === waiting) return;
    store.set({ status: now, retryAt: at, waiting });
    if (!isSame) tellAll();
  };

  const spend = (): void => {
    slots.take();
    limit.spend();
    // The last of what was left has gone.
    isPaused ||= limit.isHolding();
  };
  const remove = (waiter: Waiter): void => {
    waiter.isGone = true;
    waiters = waiters.filter((other) => other !== waiter);
  };
  const go = (waiter: Waiter, turn: Turn): void => {
    // It may have left while others were told.
    if (waiter.isGone) return;
    remove(waiter);
    if (turn !== 'expired') spend();
    if (turn === 'canary') {
      circuit.startProbe();
      following.sayDown();
    }
    waiter.take(turn);
  };
  const startRelease = (usualFailureRate: number, firstGap: number): void => {
    isPaused = false;
    release.recover(
      waiters.length,
      clock.now() - heldSince - asleepForMs,
      usualFailureRate,
      firstGap,
    );
  };
  const recover = (upAt: number): void => {
    startRelease(isPaused ? 0 : rule.usualRate(), between(random, 0, 1));
    evidence.recovered();
    following.recovered();
    for (const waiter of waiters) {
      if (!isOpen()) break;
      if (upAt - waiter.askedAt < freshMs && !waiter.ask.isResumed) go(waiter, 'go');
    }
  };

  /** Ends the waits whose time is up. */
  const expire = (now: number): void => {
    for (const waiter of waiters) {
      // A clock that was set back would prolong it.
      if (now < waiter.askedAt) extend(waiter, now, waiter.expiresAt - waiter.askedAt);
      const isRefused = waiter.ask.isFailFast && !isQueue();
      if (now < waiter.expiresAt && !isRefused) continue;
      // At the end of its patience it need not wait for its turn, where answers are as fast as usual.
      const mayGo = release.isUnderWay() && isOpen() && release.pace.isGood();
      go(waiter, mayGo ? 'go' : 'expired');
    }
  };
  /** While the device is offline, those that need not leave it. */
  const able = (): readonly Waiter[] =>
    isOffline() ? waiters.filter(({ ask }) => ask.mayBeOffline) : waiters;
  /** Lets one go whose turn it is; else says when to look again. */
  const letGo = (now: number): number | undefined => {
    const { releaseAt } = limit.getState();
    if (!circuit.isClosed()) {
      const at = Math.max(following.turnAt(), releaseAt);
      if (at > now) return at;
      const canary = canaryOf(able(), failedProbes, now);
      if (canary) go(canary, 'canary');
      return circuit.timerAt() === Infinity ? Infinity : undefined;
    }
    if (now < releaseAt) return releaseAt;
    if (isPaused && heldSince < releaseAt) {
      startRelease(0, waiters.length > 1 ? between(random, 0, 1) : 0);
      return undefined;
    }
    if (!slots.isFree()) return Infinity;
    const isUnderWay = release.isUnderWay();
    if (isUnderWay && now < release.nextAt()) return release.nextAt();
    // In a queue for a place, first come, first served.
    const next = nextOf(able(), isUnderWay ? now : Infinity);
    if (!next) return Infinity;
    go(next, 'go');
    release.advance();
    return undefined;
  };
  /** Lets go whose turn it is, and sets the one timer for what comes next. */
  const pump = (): void => {
    heart.look();
    const now = clock.now();
    expire(now);
    const upAt = following.foundUpAt();
    if (upAt !== undefined) {
      circuit.endProbe('succeeded', 0);
      recover(upAt);
    }
    let due: number | undefined;
    while (due === undefined && able().length > 0) due = letGo(now);
    if (waiters.length === 0) {
      release.stop();
      isPaused &&= isSpreading();
    }
    const { until, releaseAt } = limit.getState();
    const limitAt = isLimited() ? (limit.isHolding() ? until : releaseAt) : Infinity;
    const electAt = following.elect(waiters.length);
    let next = Math.min(due ?? Infinity, limitAt, electAt);
    for (const { expiresAt } of waiters) next = Math.min(next, expiresAt);
    setAlarm(isDisposed && waiters.length === 0 ? Infinity : next);
    beat(waiters.length > 0 ? Infinity : 0);
    tell();
  };
  const setAlarm = createAlarm(clock, pump);
  // Nobody waits in their sleep.
  const beat = heart.join((asleepMs) => {
    asleepForMs += asleepMs;
    for (const waiter of waiters) waiter.expiresAt += asleepMs;
    pump();
  });

  const restrict = (remaining: number, resetAt: number): void => {
    limit.allow(remaining - slots.getState(), resetAt);
    if (limit.isHolding()) {
      isPaused = true;
      pump();
    }
  };

  /** What was held while the device was offline comes back bit by bit. */
  const onNetwork = (): void => {
    const isBack = wasOffline && !isOffline();
    wasOffline = isOffline();
    if (waiters.length === 0) return;
    if (isBack && circuit.isClosed() && !isPaused) release.spread(between(random, 0, 1));
    else if (isOffline()) release.stop();
    pump();
    tellAll();
  };
  network.subscribe(onNetwork);

  const line = join?.({
    hear(word) {
      if (word.kind === 'limit') return restrict(word.remaining, word.until);
      if (ruleOptions === false) return;
      if (word.kind === 'down') {
        release.stop();
        following.hearDown(word.from, word.until);
      } else if (!circuit.isClosed()) following.hearUp(waiters.length);
      pump();
    },
    lead() {
      following.takeOver();
      pump();
    },
  });
  const following = createFollowing(clock, random, circuit, line);

  const judge: Judge = (endpoint, isCanary, sign, latencyMs, error) => {
    const wasClosed = circuit.isClosed();
    const shown = evidence.see({ endpoint, isCanary, sign, latencyMs, error });
    if (shown === 'recovery') {
      following.sayUp();
      recover(clock.now());
    }
    if (!circuit.isClosed() && (isCanary || wasClosed)) following.sayDown();
    if (shown === 'outage' || waiters.length > 0 || store.getState().status !== 'up') pump();
  };

  const extend = (waiter: Waiter, now: number, ms: number): void => {
    waiter.askedAt = now;
    waiter.expiresAt = now + ms;
  };

  return {
    getState: store.getState,
    subscribe: store.subscribe,
    budget,
    circuit,
    limit,
    pace: release.pace,
    slots,
    isOpen,
    whyHeld,
    lastFailure: evidence.lastFailure,
    tryEnter(isNew, isResumed, mayBeOffline) {
      if (isNew) demand.add(clock.now());
      if (!isOpen(mayBeOffline)) return false;
      if (!isNew && (isSpreading() || isPaused || release.isUnderWay())) return false;
      if (isResumed && !release.admits(waiters.length)) return false;
      spend();
      if (isPaused) pump();
      return true;
    },
    wait(ask, take) {
      const now = clock.now();
      const isQueued = isQueue();
      if (isQueued && waiters.length >= maxQueued) return undefined;
      // It would wait in vain.
      if (limit.getState().until > now + ask.holdMs) return undefined;
      const ms = isQueued ? Math.min(ask.holdMs, queueTimeoutMs) : ask.holdMs;
      const waiter: Waiter = { ask, askedAt: now, expiresAt: now + ms, take };
      if (waiters.length === 0) [heldSince, asleepForMs] = [now, 0];
      waiters = [...waiters, waiter];
      if (!circuit.isClosed() && (ask.isNew || ask.priority === 'user-blocking')) {
        following.ask();
        if (following.leads() && circuit.mayProbe() && !limit.isHolding() && !isOffline()) {
          // It draws the canary, and is it where nobody else is better.
          const canary = canaryOf(waiters, failedProbes, now);
          if (canary) go(canary, 'canary');
        }
      }
      pump();
      tellHeld(waiter, whyHeld());
      return waiter;
    },
    leave(waiter) {
      remove(waiter);
      pump();
    },
    force(waiter) {
      go(waiter, circuit.isClosed() || circuit.isProbing() ? 'go' : 'canary');
      pump();
    },
    renew(waiter) {
      extend(waiter, clock.now(), waiter.ask.holdMs);
      pump();
    },
    settle(...shown) {
      slots.free();
      judge(...shown);
    },
    free() {
      slots.free();
      if (waiters.length > 0) pump();
    },
    judge,
    pause(retryAfterMs) {
      limit.pause(retryAfterMs);
      isPaused = true;
      following.sayLimit(limit.getState().until, 0);
      pump();
    },
    dispose() {
      isDisposed = true;
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
