import { createAlarm } from '../lib/wait.ts';
import { between, type Clock, type Random } from '../lib/clock.ts';
import type { RateLimitState } from '../headers/rate-limit.ts';
import { codeOf } from '../lib/input/made-by.ts';
import {
  type Network,
  isQueued,
  type Origin,
  type OriginOptions,
  type Place,
  whyPaused,
} from './origin.ts';
import { createStore, type Readable } from '../lib/store.ts';
import type { Hear, Leader } from '../tabs/leader.ts';
import { sendDue } from './due.ts';
import {
  createHealth,
  forgetMs,
  type Health,
  type OutageListener,
  type Recovery,
  shownBy,
} from './health.ts';
import { watchConnection } from '../lib/browser/page.ts';
import { Latency } from './latency.ts';
import type { ConcurrencyCode } from './concurrency.ts';

import { createRateLimits } from './rate-limit.ts';
import { createSlowStart } from './slow-start.ts';
import {
  type Ask,
  everything,
  type Pause,
  type Permit,
  type Target,
  type Waiter,
  WaitQueue,
} from './wait-queue.ts';

/** What every attempt to one origin passes before it is sent. */
export interface Admission {
  /** What is known of the origin, and who waits for it. */
  readonly origin: Origin;
  /** A permit, if it may go at once. */
  readonly enter: (target: Target) => Permit | undefined;
  /** Waits for a permit. `undefined` when no place to wait is left. */
  readonly wait: (ask: Ask, take: Waiter['take']) => Waiter | undefined;
  /** No longer wanted. */
  readonly leave: (waiter: Waiter) => void;
  /** Goes now, whatever is known of the origin. */
  readonly force: (waiter: Waiter) => void;
  /** Asked for again: its wait starts anew. */
  readonly renew: (waiter: Waiter) => void;
  /** Who waits in the foreground may have changed. */
  readonly reconsider: () => void;
  /** Whether something new may go there at once. */
  readonly isOpen: (place: Place) => boolean;
  /** Whether the endpoint, or all of the origin, is taken for down. */
  readonly isDown: (endpoint: string) => boolean;
  /** Whether other endpoints have been answered since this one fails. */
  readonly isItsOwnFault: (endpoint: string) => boolean;
  /** When the latest outage here ended, of the origin or of an endpoint. */
  readonly recoveredAt: () => number;
  /** Why something new would wait now, and until when as far as is known. */
  readonly whyPaused: (place: Place) => Pause;
  /** Calls back at each end of an outage, of the origin or of an endpoint. */
  readonly onRecovery: Readable<object>['subscribe'];
  /** The error of the last attempt that showed an outage. */
  readonly lastFailure: () => unknown;
  /** A Retry-After, and what it speaks for. */
  readonly pause: (limitScope: string, retryAfterMs: number) => void;
  readonly limitedUntil: (limitScope: string) => number;
  /** What RateLimit said in an answer. */
  readonly allow: (limitScope: string, limit: RateLimitState) => void;
  /** What was down is up: those who wait for it go, one after the other. */
  readonly recover: (recovery: Recovery | undefined) => void;
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
  /** Is told when the state of the origin may have changed. */
  readonly onChange: () => void;
}

/** What another tab has found to be up, this one takes for that within so long: not all at once. */
const followMs = 1500;

export function createAdmission(
  { health: healthOptions = {}, concurrency }: OriginOptions,
  { clock, random, network, isWatched, joinTabs, onOutage, onChange }: AdmissionContext,
): Admission {
  const limit = codeOf<ConcurrencyCode>(concurrency);
  const { maxInFlight = Infinity, maxQueued = Infinity, queueTimeoutMs = Infinity } = { ...limit };
  const health = createHealth(clock, random, healthOptions || { maxChance: -1 }, onOutage);
  const limits = createRateLimits(clock, random);
  const latency = new Latency();
  const slowStart = createSlowStart(clock, random);
  const queue = new WaitQueue();
  const leader = joinTabs?.((word, from) => {
    const { kind, scope } = word;
    if (kind === 'limit') limits.advise(scope, word.remaining, word.forMs);
    else if (kind === 'up') recover(health.recover(scope), between(random, 0, followMs));
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
    inFlight,
    maxInFlight,
    isPlaceFree,
  };
  const recoveries = createStore<object>({});
  let lastFailure: unknown;
  let lastAskedAt = clock.now();
  let recoveredAt = -Infinity;
  /** An outage was forgotten, and nobody has been told that it is over. */
  let isEndOwed = false;
  let wasOffline = network.isOffline();
  let isDisposed = false;
  /** Nothing was known against the origin when that was looked at last. */
  let isQuiet = true;

  /** What nobody has asked for a minute is not taken for down: what is asked next simply goes. */
  const forgetOld = (): void => {
    if (queue.size() > 0 || clock.now() - lastAskedAt < forgetMs) return;
    isEndOwed ||= health.down().length > 0;
    health.reset();
    leader?.leave(everything);
  };
  const isOpen: Admission['isOpen'] = (place) => {
    forgetOld();
    return isQueued(origin, place) && isPlaceFree();
  };
  const announceRecovery = (): void => recoveries.set({});
  /** What was down is up: those who wait for it go, one after the other. */
  const recover = (recovery: Recovery | undefined, firstMs = 0): void => {
    if (!recovery) return;
    recoveredAt = clock.now();
    leader?.leave(recovery.scope);
    announceRecovery();
    slowStart.recover(recovery, queue.groups(), firstMs);
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
      isTrial: !!probed || isInTurn,
      free() {
        if (free() && queue.size() > 0) pump();
      },
      settle(outcome, error, isUnused) {
        free();
        if (isOver) return;
        isOver = true;
        const shown = shownBy(outcome);
        const latencyMs = clock.now() - sentAt;
        // What was sent before, and hangs, says nothing of how the origin is now.
        const isOfRecovery = slowStart.isRecovery(endpoint) && sentAt >= recoveredAt;
        if (shown === undefined) endProbe?.(false, isUnused);
        else if (shown === 'outage') {
          lastFailure = error;
          endProbe?.(true);
          const down = health.recordFailure(endpoint, sentAt);
          if (isOfRecovery) slowStart.observe(false, latencyMs);
          if (down) {
            slowStart.stop();
            // Nobody may wait for it here: whichever tab a user waits in probes.
            leader?.say({ kind: 'down', scope: down.scope, isProbed: false });
          }
        } else {
          if (!probed && !slowStart.isRecovery()) latency.learn(endpoint, latencyMs);
          if (isEndOwed) announceRecovery();
          isEndOwed = false;
          const recovery = health.recordSuccess(endpoint, sentAt);
          if (recovery) leader?.say({ kind: 'up', scope: recovery.scope });
          recover(recovery);
          // Also that of the probe: a server that is back with a long queue is not asked for more at once.
          if (isOfRecovery || probed)
            slowStart.observe(latency.isFast(endpoint, latencyMs), latencyMs);
        }
        if (!isQuiet || health.down().length > 0 || queue.size() > 0) pump();
      },
    };
  };
  const go = (waiter: Waiter, probed?: Health, isInTurn?: boolean): void => {
    if (queue.remove(waiter)) waiter.take(grant(waiter.ask, probed, isInTurn));
  };
  /** Does whatever is due, and comes back when something is. */
  const pump = (): void => {
    network.heart.look();
    const now = clock.now();
    forgetOld();
    const over = limits.ended();
    slowStart.spread(queue.groups().filter(({ limitScope }) => over.includes(limitScope)));
    let next = sendDue(origin, now, go);
    const isWaiting = queue.size() > 0;
    if (isWaiting) {
      const scopes = queue.groups().map(({ limitScope }) => limitScope);
      next = Math.min(next, leader?.repeat() ?? Infinity, limits.nextAt(scopes));
    } else {
      slowStart.stop();
      if (isWatched() && !isDisposed) {
        const forgottenAt = health.down().length > 0 ? lastAskedAt + forgetMs : Infinity;
        next = Math.min(next, forgottenAt, limits.nextAt());
      }
    }
    setAlarm(next);
    beat(isWaiting ? Infinity : 0);
    isQuiet = limits.nextAt() === Infinity && health.down().length === 0 && !slowStart.isRecovery();
    onChange();
    tell();
  };
  const setAlarm = createAlarm(clock, pump);
  const tell = (): void => {
    const isMore = queue.announce((group) => whyPaused(origin, group));
    setTelling(isMore ? clock.now() : Infinity);
  };
  const setTelling = createAlarm(clock, tell);
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
  // Nobody waits in their sleep.
  const beat = network.heart.join((asleepMs) => {
    latency.forget();
    queue.extend(asleepMs);
    pump();
  });
  const forgetLatency = (): void => latency.forget();
  const unwatch = watchConnection(forgetLatency);
  /** What was paused while the device was offline goes on over another network, maybe. */
  const leaveNetwork = network.subscribe(() => {
    const isBack = wasOffline && !network.isOffline();
    wasOffline = network.isOffline();
    if (isBack) forgetLatency();
    if (queue.size() > 0) pump();
  });

  return {
    origin,
    whyPaused: (place) => whyPaused(origin, place),
    isOpen,
    isDown: (endpoint) => !!health.downFor(endpoint),
    isItsOwnFault: health.isItsOwnFault,
    recoveredAt: () => recoveredAt,
    onRecovery: recoveries.subscribe,
    lastFailure: () => lastFailure,
    limitedUntil: limits.until,
    enter(target) {
      const mayGo = isOpen(target);
      lastAskedAt = clock.now();
      const isLate = !target.isNew && slowStart.isUnderWay(target.endpoint) && queue.size() > 0;
      return mayGo && !isLate ? grant(target) : undefined;
    },
    wait(ask, take) {
      forgetOld();
      lastAskedAt = clock.now();
      const isLimited = isQueued(origin, ask);
      if (isLimited && queue.size() >= maxQueued) return undefined;
      const limitMs = isLimited ? queueTimeoutMs : Infinity;
      const expiresAt = Math.min(ask.askedAt + ask.maxPauseMs, lastAskedAt + limitMs);
      pumpSoon();
      return queue.add(ask, expiresAt, take);
    },
    leave(waiter) {
      if (queue.remove(waiter)) pumpSoon();
    },
    force(waiter) {
      const down = health.downFor(waiter.ask.endpoint);
      go(waiter, down?.probes.isProbing() ? undefined : down);
      pump();
    },
    renew(waiter) {
      queue.renew(waiter, clock.now());
      pump();
    },
    reconsider() {
      if (queue.size() > 0 || !isQuiet) pump();
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
    recover,
    isIdle: () => queue.size() === 0 && inFlight.size === 0 && health.down().length === 0,
    dispose() {
      isDisposed = true;
      unwatch();
      leaveNetwork();
      // An outage ends with it.
      lastAskedAt = -Infinity;
      pump();
    },
  };
}
