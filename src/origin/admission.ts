import type { Clock, Random } from '../lib/clock.ts';
import type { RateLimitState } from '../headers/rate-limit.ts';
import { codeOf } from '../lib/made-by.ts';
import { noLeader } from '../tabs/leader.ts';
import type { TabsCode } from '../tabs/share-across-tabs.ts';
import type { Tabs } from '../tabs/words.ts';
import { createAlarm } from '../lib/alarm.ts';
import { between } from '../lib/between.ts';
import type { ConcurrencyCode } from './concurrency.ts';
import { createLatency } from './latency.ts';
import { type Network, openNetwork } from './network.ts';
import type { OriginOptions } from './options.ts';
import { createRateLimits } from './rate-limit.ts';
import { type Budget, type BudgetCode, noBudget } from './retry-budget.ts';
import { createSlowStart } from './slow-start.ts';
import { createPermits, type Permit, type Result } from './permits.ts';
import { createProbing, type Down } from './probing.ts';
import { createRelease } from './release.ts';
import { createShown } from './shown.ts';
import type { OriginState } from './status.ts';
import { createStore, type Readable } from '../lib/store.ts';
import { createVitals, everything, forgetMs } from './vitals.ts';
import {
  type Ask,
  createWaitQueue,
  type Group,
  type Pause,
  type Target,
  type Waiter,
} from './wait-queue.ts';

export type Waiting = Waiter<Permit>;

type Place = Pick<Target, 'endpoint' | 'limitScope'>;

/** What every attempt to one origin passes before it is sent. */
export interface Admission extends Readable<OriginState> {
  readonly budget: Budget;
  /** A permit, if it may go at once. */
  readonly enter: (target: Target) => Permit | undefined;
  /** Waits for a permit. `undefined` when no place to wait is left. */
  readonly wait: (ask: Ask, take: (permit: Permit | undefined) => void) => Waiting | undefined;
  /** No longer wanted. */
  readonly leave: (waiter: Waiting) => void;
  /** Goes now, whatever is known of the origin. */
  readonly force: (waiter: Waiting) => void;
  /** Asked for again: its wait starts anew. */
  readonly renew: (waiter: Waiting) => void;
  /** Who waits in the foreground may have changed. */
  readonly reconsider: () => void;
  /** Whether something new may go to the endpoint at once; also something that need not leave the device. */
  readonly isOpen: (ask: Place, mayBeOffline?: boolean) => boolean;
  /** Whether the endpoint, or all of the origin, is taken for down. */
  readonly isDown: (endpoint: string) => boolean;
  /** Other endpoints have been answered since this one fails: it is not the origin's fault. */
  readonly isItsOwnFault: (endpoint: string) => boolean;
  /** Why something new would wait now, and until when as far as is known. */
  readonly whyPaused: (ask: Place) => Pause;
  /** Tells of each end of an outage, of the origin or of an endpoint. */
  readonly onRecovery: Readable<number>['subscribe'];
  /** The error of the last attempt that showed an outage. */
  readonly lastFailure: () => unknown;
  /** A Retry-After, and what it speaks for. */
  readonly pause: (limitScope: string, retryAfterMs: number) => void;
  /** When what it speaks for may go; `-Infinity` when that is now. */
  readonly limitedUntil: (limitScope: string) => number;
  /** What RateLimit said in an answer. */
  readonly allow: (limitScope: string, limit: RateLimitState) => void;
  /** The network is another one: how long answers take is not known any more. */
  readonly forgetUsual: () => void;
  /** Nothing waits or is under way, and nothing is known that holds. */
  readonly isIdle: () => boolean;
  /** Who waits goes on as before; what is only shown is not kept up to date any more. */
  readonly dispose: () => void;
}

/** A slow answer of a server that has not been seen healthy counts for no more: it may always be so slow. */
const strangerSlowMs = 200;
/** What another tab has found to be up, this one takes for that within so long: not all at once. */
const followMs = 1500;

/** The other tabs, as the admission of one origin sees them. */
export interface SharedTabs extends Pick<TabsCode, 'createLeader'> {
  readonly join: (hear: Parameters<Tabs['join']>[1]) => ReturnType<Tabs['join']>;
}

export function createAdmission(
  clock: Clock,
  random: Random,
  { budget: paid, health: healthOptions = {}, concurrency }: OriginOptions,
  network: Network = openNetwork,
  isWatched: () => boolean = () => false,
  tabs?: SharedTabs,
): Admission {
  const limit = concurrency && codeOf<ConcurrencyCode>(concurrency);
  const { maxInFlight = Infinity, maxQueued = Infinity, queueTimeoutMs = Infinity } = limit ?? {};
  const { isOffline, heart } = network;
  const budget = paid ? codeOf<BudgetCode>(paid).open() : noBudget;
  const vitals = createVitals(clock, random, healthOptions || { maxChance: -1 });
  const { downFor } = vitals;
  const limits = createRateLimits(clock, random);
  const limitedUntil = limits.until;
  const latency = createLatency();
  const slowStart = createSlowStart(clock, random);
  const queue = createWaitQueue<Permit>();
  const recoveries = createStore(0);
  const line = tabs?.join((word, from) => {
    const { kind, scope } = word;
    if (kind === 'limit') limits.advise(scope, word.remaining, word.forMs);
    else if (kind === 'up') recoverFrom(scope, between(random, 0, followMs));
    else if (healthOptions !== false && (!word.isProbed || leader.hear(scope, from)))
      vitals.of(scope).follow();
    pump();
  });
  const leader = tabs && line ? tabs.createLeader(clock, random, line) : noLeader;
  let lastFailure: unknown;
  let lastAskedAt = clock.now();
  let recoveredAt = -Infinity;
  /** An outage was forgotten, and nobody has been told that it is over. */
  let isEndOwed = false;
  let wasOffline = isOffline();
  let isDisposed = false;

  /** What nobody has asked for a minute is not taken for down: what is asked next simply goes. */
  const forgetOld = (): void => {
    if (queue.size() > 0 || clock.now() - lastAskedAt < forgetMs) return;
    isEndOwed ||= vitals.down().length > 0;
    vitals.reset();
  };
  const isOpen: Admission['isOpen'] = ({ endpoint, limitScope }, mayBeOffline = false) => {
    forgetOld();
    return (
      !downFor(endpoint) &&
      limitedUntil(limitScope) === -Infinity &&
      isPlaceFree() &&
      (mayBeOffline || !isOffline())
    );
  };
  /** Nothing but a free place is waited for. */
  const isQueue = ({ endpoint, limitScope }: Place): boolean =>
    !downFor(endpoint) && limitedUntil(limitScope) === -Infinity && !isOffline();
  const permits = createPermits(clock, maxInFlight, {
    sent({ endpoint, limitScope }, probed) {
      limits.spend(limitScope);
      vitals.recordSent(endpoint);
      if (!probed) return;
      probed[1].probes.start();
      leader.lead(probed[0]);
    },
    freed: () => queue.size() > 0 && pump(),
    settled: (result) => record(result),
    finished: slowStart.finish,
  });
  const { grant, isPlaceFree } = permits;
  const go = (waiter: Waiting, probed?: Down, isInTurn?: boolean): void => {
    if (queue.remove(waiter)) waiter.take(grant(waiter.ask, probed, isInTurn));
  };
  /** What was down is up: those who wait for it go, one after the other. */
  const recoverFrom = (scope: string, firstMs = 0): void => {
    const health = vitals.known(scope);
    if (!health?.isDown()) return;
    const downMs = clock.now() - health.downSince();
    health.reset();
    startRelease(scope, downMs, firstMs);
  };
  const tellRecovery = (): void => recoveries.set(recoveries.getState() + 1);
  const startRelease = (scope: string, downMs: number, firstMs = 0): void => {
    recoveredAt = clock.now();
    if (scope === everything) vitals.reset();
    leader.leave(scope);
    tellRecovery();
    release.begin(scope, downMs, firstMs);
  };
  const record = ({ endpoint, sign, sentAt, probed, error }: Result): void => {
    const latencyMs = clock.now() - sentAt;
    // What was sent before, and hangs, says nothing of how the origin is now.
    const isOfRecovery =
      slowStart.isRecovery() && slowStart.isUnderWay(endpoint) && sentAt >= recoveredAt;
    if (sign === 'nothing') probed?.[1].probes.end(false);
    else if (sign === 'outage') {
      lastFailure = error;
      probed?.[1].probes.end(true);
      const tripped = vitals.recordFailure(endpoint, sentAt);
      if (isOfRecovery) slowStart.observe(false, latencyMs);
      if (tripped) {
        slowStart.stop();
        // Nobody may wait for it here: whichever tab somebody waits in probes.
        line?.say({ kind: 'down', scope: downFor(endpoint)?.[0] ?? endpoint, isProbed: false });
      }
    } else {
      if (sign === 'success') budget.succeed();
      if (!probed && !slowStart.isRecovery()) latency.learn(endpoint, latencyMs);
      if (isEndOwed) {
        isEndOwed = false;
        tellRecovery();
      }
      for (const [scope, downMs] of vitals.recordSuccess(endpoint, sentAt)) {
        line?.say({ kind: 'up', scope });
        startRelease(scope, downMs);
      }
      // Also that of the probe: a server that is back with a long queue is not asked for more at once.
      if (isOfRecovery || probed) {
        const slowMs = latency.isKnown() ? latencyMs : Math.min(latencyMs, strangerSlowMs);
        slowStart.observe(latency.isFast(endpoint, latencyMs), slowMs);
      }
    }
    const isNews = vitals.down().length > 0 || shown.getState().status !== 'up';
    if (isNews || queue.size() > 0) pump();
  };

  /** While the device is offline, those that need not leave it; and those that are not told to wait. */
  const able = (): readonly Group<Permit>[] => {
    const isOff = isOffline();
    return queue
      .groups()
      .filter(
        ({ limitScope, mayBeOffline }) =>
          (mayBeOffline || !isOff) && limitedUntil(limitScope) === -Infinity,
      );
  };
  const probing = createProbing(vitals, leader, queue, able);
  const release = createRelease(clock, slowStart, queue, {
    ready: () => able().filter(({ endpoint }) => !downFor(endpoint)),
    isQueue,
    mayGo: ({ endpoint }) => !isOffline() && !downFor(endpoint),
    isPlaceFree,
    go: (waiter, isInTurn) => go(waiter, undefined, isInTurn),
  });
  const pump = (): void => {
    heart.look();
    const now = clock.now();
    forgetOld();
    release.spread(limits.ended());
    let next = Math.min(probing.send(now, go), release.run(now), release.expire(now));
    const isWaiting = queue.size() > 0;
    if (isWaiting) next = Math.min(next, leader.repeat(), limits.nextAt(scopes()));
    else {
      slowStart.stop();
      if (isWatched() && !isDisposed && shown.getState().status !== 'up')
        next = Math.min(next, lastAskedAt + forgetMs, limits.nextAt());
    }
    setAlarm(next);
    beat(isWaiting ? Infinity : 0);
    shown.update();
  };
  const scopes = (): string[] => queue.groups().map(({ limitScope }) => limitScope);
  const shown = createShown({ network, limits, vitals, slowStart, leader, probing, queue });
  const setAlarm = createAlarm(clock, pump);
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
  const beat = heart.join((asleepMs) => {
    latency.forget();
    queue.extend(asleepMs);
    pump();
  });

  /** What was paused while the device was offline goes on over another network, maybe. */
  const leaveNetwork = network.subscribe(() => {
    const isBack = wasOffline && !isOffline();
    wasOffline = isOffline();
    if (isBack) latency.forget();
    if (queue.size() === 0) return;
    pump();
  });

  return {
    budget,
    ...shown,
    isOpen,
    isDown: (endpoint) => !!downFor(endpoint),
    isItsOwnFault: vitals.isItsOwnFault,
    onRecovery: recoveries.subscribe,
    lastFailure: () => lastFailure,
    limitedUntil,
    enter(ask) {
      const mayGo = isOpen(ask, ask.mayBeOffline);
      lastAskedAt = clock.now();
      if (!mayGo) return undefined;
      if (!ask.isNew && slowStart.isUnderWay(ask.endpoint) && queue.size() > 0) return undefined;
      return grant(ask);
    },
    wait(ask, take) {
      forgetOld();
      lastAskedAt = clock.now();
      const isQueued = isQueue(ask);
      if (isQueued && queue.size() >= maxQueued) return undefined;
      const limitMs = isQueued ? queueTimeoutMs : Infinity;
      const expiresAt = Math.min(ask.askedAt + ask.maxPauseMs, lastAskedAt + limitMs);
      const waiter = queue.add(ask, expiresAt, take);
      pumpSoon();
      return waiter;
    },
    leave(waiter) {
      if (queue.remove(waiter)) pumpSoon();
    },
    force(waiter) {
      const down = downFor(waiter.ask.endpoint);
      go(waiter, down && !down[1].probes.isProbing() ? down : undefined);
      pump();
    },
    renew(waiter) {
      waiter.askedAt = clock.now();
      waiter.expiresAt = waiter.askedAt + waiter.ask.maxPauseMs;
      waiter.group.expiresAt = Math.min(waiter.group.expiresAt, waiter.expiresAt);
      pump();
    },
    reconsider() {
      if (queue.size() > 0 || shown.getState().status !== 'up') pump();
    },
    pause(limitScope, retryAfterMs) {
      limits.of(limitScope).pause(retryAfterMs);
      line?.say({ kind: 'limit', scope: limitScope, forMs: retryAfterMs, remaining: 0 });
      pump();
    },
    allow(limitScope, { remaining, resetAt }) {
      const resetInMs = resetAt - clock.now();
      // Its own attempt is counted in what is left.
      limits.of(limitScope).allow(remaining + 1 - permits.countOf(limitScope), resetInMs);
      line?.say({ kind: 'limit', scope: limitScope, forMs: resetInMs, remaining });
      pump();
    },
    forgetUsual: latency.forget,
    isIdle: () => queue.size() === 0 && permits.size() === 0 && vitals.down().length === 0,
    dispose() {
      isDisposed = true;
      leaveNetwork();
      pump();
    },
  };
}
