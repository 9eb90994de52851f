import type { Clock, Random } from '../policy/clock.ts';
import type { HoldReason } from '../policy/outcome.ts';
import { createAlarm } from './alarm.ts';
import { type Budget, createBudget } from './budget.ts';
import { between, type Circuit, createCircuit } from './circuit.ts';
import { createDemand } from './demand.ts';
import { createLatency } from './latency.ts';
import { createLimit, type Limit } from './limit.ts';
import type { RateLimitState } from '../policy/rate-limit.ts';
import { type Network, openNetwork } from './network.ts';
import { createPace, type Pace } from './pace.ts';
import type { Ear, Line } from './share.ts';
import type { OriginOptions } from './options.ts';
import { createSlots, type Slots } from './slots.ts';
import { createStore, type Readable } from './store.ts';
import { createRatioRule, createStreakRule } from './trip-rule.ts';
import { type Ask, canaryOf, nextOf, type Turn, type Waiter } from './waiting.ts';

/** How an origin is. */
export interface OriginState {
  readonly status: 'up' | 'recovering' | 'down' | 'rate-limited';
  /** When it is tried next, or takes requests again, in epoch milliseconds; undefined when that is not known. */
  readonly retryAt: number | undefined;
  /** Attempts that wait. */
  readonly waiting: number;
}

/** What an attempt showed about its origin. */
export type Sign =
  /** An answer, and not one of an outage. */
  | { readonly kind: 'alive'; readonly isSuccess: boolean }
  /** No answer, or that of a server in trouble. A time-out weighs two: it has cost more. */
  | { readonly kind: 'outage'; readonly weight: number }
  /** It was called off. */
  | { readonly kind: 'nothing' };

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
  /** An attempt that has gone is over, at its headers. */
  readonly settle: (
    endpoint: string,
    isCanary: boolean,
    sign: Sign,
    latencyMs: number,
    error?: unknown,
  ) => void;
  /** Why something new would wait now, and until when as far as is known. */
  readonly whyHeld: () => { readonly reason: HoldReason; readonly retryAt: number | undefined };
  /** The error of the last attempt that showed an outage. */
  readonly lastFailure: () => unknown;
  /** A rate limit was told. */
  readonly pause: (retryAfterMs: number) => void;
  /** What RateLimit said in an answer; undefined when it said nothing. */
  readonly allow: (limit: RateLimitState | undefined) => void;
  /** Whether to look for RateLimit: in every answer of an origin that sends it, else now and then. */
  readonly isLimitExpected: () => boolean;
}

/** What was asked for this shortly before a recovery is as good as new, and goes at once. */
const freshMs = 2000;

/** When another tab has found it well, what waits here comes back within this time. */
const followMs = 2000;

/** A tab that has let its time pass by as much and more is asleep, and another goes. */
const sleepMs = 30_000;

/** While a canary is under way, the next one is said to be so far off. */
const canaryMs = 2000;

/** May be sent in vain. */
const isHarmless = ({ ask }: Waiter): boolean => ask.risk < 2;

/** More requests left than these are not worth a message. */
const fewLeft = 20;

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
  const rule =
    ruleOptions && 'failureRatio' in ruleOptions
      ? createRatioRule(clock, ruleOptions)
      : createStreakRule(ruleOptions === false ? { maxChance: -1 } : ruleOptions);
  const circuit = createCircuit(clock, random, rule, demand);
  const limit = createLimit(clock, random);
  const pace = createPace();
  const latency = createLatency();
  const failedProbes = new Map<string, number>();
  const store = createStore<OriginState>({ status: 'up', retryAt: undefined, waiting: 0 });

  let waiters: readonly Waiter[] = [];
  /** Until it is seen to be well, an origin that has been down gets what was held bit by bit. */
  let isReleasing = false;
  /** What is released was not held for the origin: it has been well. */
  let isSpread = false;
  let isProven = true;
  /** The origin has asked for a pause, and nothing has been released since. */
  let isPaused = false;
  /** When the last one was released, and how many gaps of the pace the next one waits. */
  let releasedAt = 0;
  let gaps = 0;
  let heldSince = 0;
  let lastFailure: unknown;
  /** What was sent before this says nothing of the origin as it is now. */
  let recoveredAt = -Infinity;
  let looksSkipped = 0;
  let lookEvery = 1;

  /** When another tab has found the origin well, and when this one takes it for that. */
  let foundAt = 0;
  let followAt = Infinity;
  /** When the tab whose turn it is must be asleep: it has not been heard of. */
  let lateAt = Infinity;
  let hasAsked = false;
  let wasOffline = network.permits() <= 0;

  const leads = (): boolean => !line || line.leads();
  const isOffline = (): boolean => network.permits() <= 0;
  const isTrial = (): boolean => network.permits() === 1;
  const isOpen: Gate['isOpen'] = (mayBeOffline = false) =>
    circuit.isClosed() && !limit.isHolding() && slots.isFree() && (mayBeOffline || !isOffline());
  const releaseAt = (): number => releasedAt + gaps * pace.gapMs();
  /** After a pause, what is not new comes back bit by bit. */
  const isSpreading = (): boolean => clock.now() < limit.getState().releaseAt;
  const isLimited = (): boolean => limit.isHolding() || (isPaused && isSpreading());
  const reason = (): HoldReason => {
    if (isOffline()) return 'offline';
    return isLimited() ? 'rate-limited' : circuit.isClosed() ? 'queued' : 'server-down';
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

  const tellHeld = (waiter: Waiter, why: HoldReason, at: number | undefined): void => {
    const told = `${why} ${at}`;
    if (waiter.told === told) return;
    waiter.told = told;
    waiter.ask.onHold(why, at);
  };
  const tellAll = (): void => {
    const [why, at] = [reason(), heldUntil()];
    for (const waiter of waiters) if (waiters.includes(waiter)) tellHeld(waiter, why, at);
  };
  const tell = (): void => {
    const at = retryAt();
    const status = isLimited()
      ? 'rate-limited'
      : !circuit.isClosed()
        ? 'down'
        : isReleasing && !isSpread
          ? 'recovering'
          : 'up';
    const before = store.getState();
    if (before.status === status && before.retryAt === at && before.waiting === waiters.length)
      return;
    store.set({ status, retryAt: at, waiting: waiters.length });
    if (before.status === status && before.retryAt === at) return;
    tellAll();
  };

  const expectWordBy = (at: number): void => {
    if (line) lateAt = Math.min(at, clock.now() + sleepMs) + between(random, 1, 2) * sleepMs;
  };
  const sayDown = (): void => {
    const soon = clock.now() + canaryMs;
    const { probeAt = soon } = circuit.getState();
    const timerAt = circuit.timerAt();
    const until = timerAt < Infinity ? timerAt : soon;
    followAt = Infinity;
    expectWordBy(until);
    // While a canary is under way nobody knows when the next one may go: 0 says so.
    line?.say({ kind: 'down', until, from: circuit.isProbing() ? 0 : Math.min(probeAt, until) });
  };
  const restrict = (remaining: number, resetAt: number): void => {
    limit.allow(remaining - slots.getState(), resetAt);
    if (limit.isHolding()) {
      isPaused = true;
      pump();
    }
  };

  const remove = (waiter: Waiter): void => {
    waiters = waiters.filter((other) => other !== waiter);
  };
  const spend = (): void => {
    slots.take();
    limit.spend();
    network.spend();
    // The last of what was left has gone.
    isPaused ||= limit.isHolding();
  };
  const go = (waiter: Waiter, turn: Turn): void => {
    // It may have left while others were told.
    if (!waiters.includes(waiter)) return;
    remove(waiter);
    if (turn !== 'expired') {
      spend();
      if (turn === 'canary') {
        circuit.startProbe();
        sayDown();
      }
    }
    waiter.take(turn);
  };

  const startRelease = (now: number, usualFailureRate: number, firstGap: number): void => {
    isPaused = false;
    isSpread = false;
    isReleasing = waiters.length > 0;
    pace.start(waiters.length, now - heldSince, usualFailureRate);
    releasedAt = now;
    gaps = firstGap;
  };
  /** Ten in a second, and slower where the answers are. */
  const startSpread = (now: number, firstGap: number): void => {
    isSpread = true;
    pace.start(10, 1000, 1);
    releasedAt = now;
    gaps = firstGap;
  };
  const recover = (upAt: number): void => {
    const now = clock.now();
    startRelease(now, isPaused ? 0 : rule.usualRate(), between(random, 0, 1));
    isProven = false;
    recoveredAt = now;
    hasAsked = false;
    followAt = Infinity;
    for (const waiter of waiters) {
      if (!isOpen()) break;
      if (upAt - waiter.askedAt < freshMs && !waiter.ask.isResumed) go(waiter, 'go');
    }
  };

  /** Lets go whose turn it is, and sets the one timer for what comes next. */
  const pump = (): void => {
    const now = clock.now();
    for (const waiter of waiters) {
      // At the end of its patience it need not wait for its turn, where answers are as fast as usual.
      const mayGo = isReleasing && isOpen() && pace.isGood();
      if (waiter.expiresAt <= now) go(waiter, mayGo ? 'go' : 'expired');
    }
    if (now >= followAt) {
      circuit.endProbe('succeeded', 0);
      recover(foundAt);
    }
    let due = Infinity;
    while (waiters.length > 0 && due === Infinity && !isOffline()) {
      const { releaseAt: limitReleaseAt } = limit.getState();
      if (!circuit.isClosed()) {
        const turnAt = leads() ? circuit.timerAt() : Math.min(followAt, lateAt);
        const at = Math.max(turnAt, limitReleaseAt);
        if (at > now) {
          due = at;
          break;
        }
        const canary = canaryOf(waiters, failedProbes, now);
        if (canary) go(canary, 'canary');
        if (circuit.timerAt() === Infinity) break;
      } else if (now < limitReleaseAt) due = limitReleaseAt;
      else if (isPaused && heldSince < limitReleaseAt)
        startRelease(now, 0, waiters.length > 1 ? between(random, 0, 1) : 0);
      else if (!slots.isFree()) break;
      else if (isReleasing && now < releaseAt()) due = releaseAt();
      else {
        // In a queue for a place, first come, first served.
        const next = isTrial()
          ? canaryOf(waiters.filter(isHarmless), failedProbes, now)
          : nextOf(waiters, isReleasing ? now : Infinity);
        if (!next) break;
        go(next, 'go');
        releasedAt = now;
        gaps = between(random, 0.5, 1.5);
      }
    }
    if (waiters.length === 0) {
      isReleasing = false;
      isPaused &&= isSpreading();
    }
    for (const { expiresAt } of waiters) due = Math.min(due, expiresAt);
    if (line) {
      const keepUntil = line.leads() ? circuit.timerAt() : 0;
      const isDown = !circuit.isClosed() && followAt === Infinity;
      const isKept = isDown && now < keepUntil;
      // Else twenty tabs, each with new requests now and then, would have the canary by turns.
      if (isKept && waiters.length === 0) due = Math.min(due, keepUntil);
      line.want(isKept || (isDown && waiters.length > 0));
    }
    const { until, releaseAt: spreadUntil } = limit.getState();
    if (isLimited()) due = Math.min(due, limit.isHolding() ? until : spreadUntil);
    setAlarm(due);
    tell();
  };

  const setAlarm = createAlarm(clock, pump);

  /** What was held while the device was offline comes back bit by bit. */
  const onNetwork = (): void => {
    const isBack = wasOffline && !isOffline() && !isTrial();
    wasOffline = !isBack && (wasOffline || isOffline());
    if (waiters.length === 0) return;
    const wasTrial = isTrial();
    if (isBack && circuit.isClosed() && !isPaused) {
      isReleasing = true;
      startSpread(clock.now(), between(random, 0, 1));
    } else if (isOffline()) isReleasing = false;
    pump();
    tellAll();
    if (!wasTrial || isTrial()) return;
    // The next one is for another origin to send.
    unwatch();
    unwatch = network.subscribe(onNetwork);
  };
  let unwatch = network.subscribe(onNetwork);

  const line = join?.({
    hear(word) {
      if (word.kind === 'limit') return restrict(word.remaining, word.until);
      if (ruleOptions === false) return;
      if (word.kind === 'down') {
        isReleasing = false;
        hasAsked = false;
        followAt = Infinity;
        expectWordBy(word.until);
        circuit.follow(word.from, word.until);
      } else if (!circuit.isClosed()) {
        // In step, twenty tabs would come back as a herd.
        foundAt = clock.now();
        followAt = foundAt + (waiters.length > 0 ? between(random, 0, followMs) : 0);
      }
      pump();
    },
    lead() {
      if (hasAsked) circuit.ask();
      pump();
    },
  });

  return {
    getState: store.getState,
    subscribe: store.subscribe,
    budget,
    circuit,
    limit,
    pace,
    slots,
    isOpen,
    whyHeld: () => ({ reason: reason(), retryAt: heldUntil() }),
    lastFailure: () => lastFailure,
    tryEnter(isNew, isResumed, mayBeOffline) {
      const now = clock.now();
      if (isNew) demand.add(now);
      if (!isOpen(mayBeOffline) || (!isNew && (isSpreading() || isPaused || isReleasing)))
        return false;
      if (isResumed) {
        if (!isReleasing && now - releasedAt > 1000) startSpread(now, 0);
        isReleasing = true;
        if (waiters.length > 0 || now < releaseAt()) return false;
        releasedAt = now;
        gaps = between(random, 0.5, 1.5);
      }
      spend();
      if (isPaused) pump();
      return true;
    },
    wait(ask, take) {
      const now = clock.now();
      const isQueued = circuit.isClosed() && !limit.isHolding() && !isOffline();
      if (isQueued && waiters.length >= maxQueued) return undefined;
      // It would wait in vain.
      if (limit.getState().until > now + ask.holdMs) return undefined;
      const ms = isQueued ? Math.min(ask.holdMs, queueTimeoutMs) : ask.isFailFast ? 0 : ask.holdMs;
      const waiter: Waiter = { ask, askedAt: now, expiresAt: now + ms, take };
      if (waiters.length === 0) heldSince = now;
      waiters = [...waiters, waiter];
      if (!circuit.isClosed() && (ask.isNew || ask.priority === 'user-blocking')) {
        if (leads()) circuit.ask();
        else hasAsked = true;
        if (leads() && circuit.mayProbe() && !limit.isHolding() && !isOffline()) {
          // It draws the canary, and is it where nobody else is better.
          const canary = canaryOf(waiters, failedProbes, now);
          if (canary) go(canary, 'canary');
        }
      }
      pump();
      if (waiters.includes(waiter)) tellHeld(waiter, reason(), heldUntil());
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
      const now = clock.now();
      waiter.askedAt = now;
      waiter.expiresAt = now + waiter.ask.holdMs;
      pump();
    },
    settle(endpoint, isCanary, sign, latencyMs, error) {
      slots.free();
      const isOutage = sign.kind === 'outage' && clock.now() - latencyMs >= recoveredAt;
      if (isOutage) lastFailure = error;
      const wasClosed = circuit.isClosed();
      // Another tab may have found it well in the meantime.
      if (isCanary && !wasClosed) {
        if (isOutage) {
          failedProbes.set(endpoint, (failedProbes.get(endpoint) ?? 0) + 1);
          circuit.endProbe('failed', sign.weight);
        } else {
          circuit.endProbe(sign.kind === 'alive' ? 'succeeded' : 'unknown', 0);
          if (sign.kind === 'alive') {
            const now = clock.now();
            line?.say({ kind: 'up', until: now });
            recover(now);
          }
        }
      } else if (isOutage) {
        // The first one after a canary shows that it was a fluke.
        if (wasClosed && !isProven && !failedProbes.has(endpoint)) circuit.open(sign.weight);
        else circuit.fail(sign.weight);
        if (wasClosed && !circuit.isClosed()) isReleasing = false;
        // Where attempts fail now and then anyway, one that does says nothing of the pace.
        if (rule.usualRate() <= 0.04) pace.see(false);
      } else if (sign.kind === 'alive') {
        circuit.succeed();
        if (sign.isSuccess) budget.succeed();
        isProven = true;
        failedProbes.delete(endpoint);
        if (isReleasing) {
          pace.see(latency.isFast(endpoint, latencyMs));
        } else latency.learn(endpoint, latencyMs);
      }
      if (!circuit.isClosed() && (isCanary || wasClosed)) sayDown();
      if (isOutage || waiters.length > 0 || store.getState().status !== 'up') pump();
    },
    pause(retryAfterMs) {
      limit.pause(retryAfterMs);
      isPaused = true;
      line?.say({ kind: 'limit', until: limit.getState().until, remaining: 0 });
      pump();
    },
    isLimitExpected: () => looksSkipped++ % lookEvery === 0,
    allow(told) {
      // One that has told of it lately will again; so will the rest of the answers after one without.
      if (told) looksSkipped = 0;
      lookEvery = looksSkipped > 16 ? 16 : 1;
      if (!told) return;
      const { remaining, resetAt } = told;
      if (remaining <= fewLeft) line?.say({ kind: 'limit', until: resetAt, remaining });
      // Its own attempt is not settled yet, and is counted in what is left.
      restrict(remaining + 1, resetAt);
    },
  };
}
