import { createAlarm } from '../lib/timer.ts';
import { between, type Clock, type Random } from '../lib/clock.ts';
import type { RateLimitState } from '../headers/rate-limit.ts';
import { codeOf } from '../lib/input/made-by.ts';
import {
  type Network,
  isOffline,
  isQueued,
  type Origin,
  type OriginOptions,
  type Place,
  whyPaused,
  type ConcurrencyCode,
  type Watcher,
} from './origin.ts';
import type { Hear, Leader } from '../tabs/leader.ts';
import { nextWatcher, sendDue } from './due.ts';
import { forgetMs, type Health, OriginHealth, type OutageListener } from './health.ts';
import { Latency } from './latency.ts';
import { createOutcomes, type Outcomes, type Reach } from './outcomes.ts';
import { createRateLimits } from './rate-limit.ts';
import { createSlowStart } from './slow-start.ts';
import {
  type Ask,
  type Pause,
  type Permit,
  type Target,
  type Waiter,
  WaitQueue,
  type WhoWaits,
  everything,
} from './wait-queue.ts';

/** What every attempt to one origin passes before it is sent. */
export interface Admission extends Omit<Outcomes, 'forget' | 'record'> {
  /** What is known of the origin, and who waits for it. */
  readonly origin: Origin;
  /** A permit, if it may go at once. */
  readonly enter: (target: Target) => Permit | undefined;
  /** Waits for a permit. `undefined` when no place to wait is left. */
  readonly wait: (ask: Ask, who: WhoWaits) => Waiter | undefined;
  /** No longer wanted. */
  readonly leave: (waiter: Waiter) => void;
  /** Goes now, whatever is known of the origin. */
  readonly force: (waiter: Waiter) => void;
  /** Asked for again: its wait starts anew. */
  readonly renew: (waiter: Waiter) => void;
  /** Who waits in the foreground may have changed. */
  readonly reconsider: () => void;
  /** There may be a network again, or another one: all that is down without an answer is probed at once. */
  readonly hastenProbes: () => void;
  /** Keeps probing what is down for something that is shown, until the returned function is called. */
  readonly watch: (watcher: Watcher) => () => void;
  /** Whether something new may go there at once. */
  readonly isOpen: (place: Place) => boolean;
  /** Whether the endpoint, or all of the origin, is taken for down. */
  readonly isDown: (endpoint: string) => boolean;
  /** Why something new would wait now, and until when as far as is known. */
  readonly whyPaused: (place: Place) => Pause;
  /** A Retry-After, and what it speaks for. */
  readonly pause: (limitScope: string, retryAfterMs: number) => void;
  /** What RateLimit said in an answer. */
  readonly allow: (limitScope: string, limit: RateLimitState) => void;
  /** Nothing waits or is under way, and nothing is known that holds. */
  readonly isIdle: () => boolean;
  /** Who waits goes on as before; what is only shown is not kept up to date any more. */
  readonly dispose: () => void;
}

/** What an admission stands on. */
interface AdmissionContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly network: Network;
  /** Whether somebody watches the state of the origin. */
  readonly isWatched: () => boolean;
  /** Joins the other tabs' admissions of the same origin. */
  readonly joinTabs?: ((hear: Hear) => Leader) | undefined;
  readonly onOutage?: OutageListener;
  readonly reach?: Reach | undefined;
  /** Is told when the state of the origin may have changed. */
  readonly onChange: () => void;
}

/** What another tab has found to be up, this one takes for that within so long: not all at once. */
const followMs = 1500;

export function createAdmission(
  { health: healthOptions = {}, concurrency }: OriginOptions,
  { clock, random, network, isWatched, joinTabs, onOutage, reach, onChange }: AdmissionContext,
): Admission {
  const limit = codeOf<ConcurrencyCode>(concurrency);
  const { maxInFlight = Infinity, maxQueued = Infinity, queueTimeoutMs = Infinity } = { ...limit };
  const health = new OriginHealth(clock, random, healthOptions || { maxChance: -1 }, onOutage);
  const limits = createRateLimits(clock, random);
  const latency = new Latency();
  const slowStart = createSlowStart(clock, random);
  const queue = new WaitQueue();
  const leader = joinTabs?.((word, from) => {
    const { kind, scope } = word;
    if (kind === 'limit') limits.advise(scope, word.remaining, word.forMs);
    else if (kind === 'up') outcomes.recover(health.recover(scope), between(random, 0, followMs));
    else if (healthOptions !== false && (!word.isProbed || leader?.hear(scope, from)))
      health.follow(scope);
    pump();
  });
  const inFlight = new Set<Target>();
  const isPlaceFree = (): boolean => inFlight.size < maxInFlight;
  const origin: Origin = {
    network,
    health,
    limits,
    slowStart,
    queue,
    leader,
    latency,
    watchers: new Set(),
    inFlight,
    maxInFlight,
    isPlaceFree,
  };
  const outcomes = createOutcomes(clock, origin, reach, () => pump());
  let lastAskedAt = clock.now();
  let isDisposed = false;
  /** Nothing was known against the origin when that was looked at last. */
  let isQuiet = true;

  const { watchers } = origin;
  const isWaitedFor = (): boolean => queue.size() > 0;
  const hasOutage = (): boolean => health.down().length > 0;
  /** What nobody has asked for a minute is not taken for down: what is asked next simply goes. */
  const forgetOld = (): void => {
    if (isWaitedFor() || clock.now() - lastAskedAt < forgetMs) return;
    outcomes.forget();
  };
  const isOpen: Admission['isOpen'] = (place) => {
    forgetOld();
    return isQueued(origin, place) && isPlaceFree();
  };
  const grant = (target: Target, probed?: Health, isInTurn = false): Permit => {
    const { endpoint, limitScope } = target;
    const sentAt = clock.now();
    let isOver = false;
    const free = (): boolean => {
      const wasInFlight = inFlight.delete(target);
      if (wasInFlight && isInTurn) slowStart.finish();
      return wasInFlight;
    };
    inFlight.add(target);
    limits.spend(limitScope);
    health.recordSent(endpoint, sentAt);
    const endProbe = probed?.probes.start();
    if (probed) leader?.lead(probed.scope);
    return {
      isProbe: !!probed,
      isTrial: !!probed || isInTurn || health.isDown(everything),
      free() {
        if (free() && isWaitedFor()) pump();
      },
      settle(outcome, error, isUnused) {
        free();
        if (isOver) return;
        isOver = true;
        if (!outcome) endProbe?.(false, isUnused);
        else outcomes.record(endpoint, sentAt, endProbe, outcome, error);
        if (!isQuiet || hasOutage() || isWaitedFor() || watchers.size > 0) pump();
      },
    };
  };
  const go = (waiter: Waiter, probed?: Health, isInTurn?: boolean): void => {
    if (queue.remove(waiter)) waiter.who.take(grant(waiter.ask, probed, isInTurn));
  };
  /** Does whatever is due, and comes back when something is. */
  const pump = (): void => {
    network.sleepDetector.check();
    const now = clock.now();
    forgetOld();
    const over = limits.ended();
    if (over.length > 0)
      slowStart.spread(queue.groups().filter(({ limitScope }) => over.includes(limitScope)));
    let next = sendDue(origin, now, go);
    const [watchedAt, watcher] = nextWatcher(origin, now);
    next = Math.min(next, watchedAt);
    if (isWaitedFor()) {
      const scopes = queue.groups().map(({ limitScope }) => limitScope);
      next = Math.min(next, leader?.repeat() ?? Infinity, limits.nextAt(scopes));
    } else {
      slowStart.stop();
      if (isWatched() && !isDisposed) {
        const forgottenAt = hasOutage() ? lastAskedAt + forgetMs : Infinity;
        next = Math.min(next, forgottenAt, limits.nextAt());
      }
    }
    setAlarm(next);
    watchSleepUntil(isWaitedFor() ? Infinity : 0);
    isQuiet = limits.nextAt() === Infinity && !hasOutage() && !slowStart.isRecovery();
    onChange();
    tell();
    // Last: it begins an attempt, which comes here.
    if (watcher && watchedAt <= now && watchers.delete(watcher)) watcher.probe();
  };
  const setAlarm = createAlarm(clock, pump);
  const tell = (): void => {
    const isMore = queue.announce((group) => whyPaused(origin, group));
    setAnnouncing(isMore ? clock.now() : Infinity);
  };
  const setAnnouncing = createAlarm(clock, tell);
  let isPumping = false;
  /** Once for all that come in one turn. */
  const pumpSoon = (): void => {
    if (isPumping) return;
    isPumping = true;
    queueMicrotask(() => {
      isPumping = false;
      pump();
    });
  };
  const hastenProbes = (): void => {
    latency.forget();
    health.hasten();
    if (!isQuiet || isWaitedFor() || watchers.size > 0) pump();
  };
  // Time asleep does not count as waiting.
  const watchSleepUntil = network.sleepDetector.watch((asleepMs) => {
    queue.extend(asleepMs);
    hastenProbes();
  });
  const leaveNetwork = network.subscribe(() => {
    if (isWaitedFor()) pump();
  });

  return {
    ...outcomes,
    origin,
    whyPaused: (place) => whyPaused(origin, place),
    isOpen,
    isDown: (endpoint) => health.isDown(endpoint),
    enter(target) {
      const mayGo = isOpen(target);
      lastAskedAt = clock.now();
      const isLate = !target.isNew && slowStart.isUnderWay(target.endpoint) && isWaitedFor();
      return mayGo && !isLate ? grant(target) : undefined;
    },
    wait(ask, who) {
      forgetOld();
      lastAskedAt = clock.now();
      const isLimited = isQueued(origin, ask);
      if (isLimited && queue.size() >= maxQueued) return undefined;
      const limitMs = isLimited ? queueTimeoutMs : Infinity;
      const expiresAt = Math.min(ask.askedAt + ask.maxPauseMs, lastAskedAt + limitMs);
      const down = ask.isWish ? health.downFor(ask) : undefined;
      if (down && !isOffline(network, down)) down.probes.hasten();
      pumpSoon();
      return queue.add(ask, expiresAt, who);
    },
    leave(waiter) {
      if (queue.remove(waiter)) pumpSoon();
    },
    force(waiter) {
      const down = health.downFor(waiter.ask);
      go(waiter, down?.probes.isProbing() ? undefined : down);
      pump();
    },
    renew(waiter) {
      queue.renew(waiter, clock.now());
      pump();
    },
    reconsider() {
      if (isWaitedFor() || !isQuiet || watchers.size > 0) pump();
    },
    hastenProbes,
    watch(watcher) {
      watchers.add(watcher);
      pumpSoon();
      return () => void watchers.delete(watcher);
    },
    pause(limitScope, retryAfterMs) {
      limits.pause(limitScope, retryAfterMs);
      leader?.say({ kind: 'limit', scope: limitScope, forMs: retryAfterMs, remaining: 0 });
      pump();
    },
    allow(limitScope, { remaining, resetAt }) {
      const resetInMs = resetAt - clock.now();
      const ofScope = [...inFlight].filter((target) => target.limitScope === limitScope);
      // Its own attempt is counted in what is left.
      limits.allow(limitScope, remaining + 1 - ofScope.length, resetInMs);
      leader?.say({ kind: 'limit', scope: limitScope, forMs: resetInMs, remaining });
      pump();
    },
    isIdle: () => !isWaitedFor() && inFlight.size === 0 && !hasOutage(),
    dispose() {
      isDisposed = true;
      watchers.clear();
      leaveNetwork();
      // An outage ends with it.
      lastAskedAt = -Infinity;
      pump();
    },
  };
}
