import { createAlarm, type Alarm } from '../lib/timer.ts';
import { between, type Clock, type Random } from '../lib/clock.ts';
import type { RateLimitState } from '../headers/rate-limit.ts';
import { isRefusal } from '../policy/outcome.ts';
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
  type ConcurrencyOptions,
  type Watcher,
} from './origin.ts';
import type { Hear, Leader, Word } from '../tabs/leader.ts';
import { nextWatcher, sendDue } from './due.ts';
import { forgetMs, type Health, OriginHealth, type OutageListener } from './health.ts';
import { Latency } from './latency.ts';
import { createOutcomes, type Outcomes, type Reach } from './outcomes.ts';
import { createRateLimits } from './rate-limit.ts';
import { SlowStart } from './slow-start.ts';
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

/** What an admission stands on. */
export interface AdmissionContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly network: Network;
  /** Whether the state of the origin is shown. */
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

/**
 * The way out to one origin: each attempt gets a permit at once, or waits for one. While nothing is known
 * against the origin and nothing waits, that is one check (`enter`). Otherwise whatever may change who may go
 * ends in `#pump`.
 */
export class Admission {
  /** The health, limits and queue of the origin. */
  readonly origin: Origin;
  /** Records how attempts ended. */
  readonly outcomes: Outcomes;
  readonly #context: AdmissionContext;
  readonly #inFlight: Set<Target> = new Set();
  readonly #limit: ConcurrencyOptions;
  readonly #setAlarm: Alarm;
  readonly #setAnnouncing: Alarm;
  readonly #watchSleepUntil: (until: number) => void;
  readonly #stopWatching: () => void;
  #lastAskedAt: number;
  #isDisposed = false;
  #isPumpPlanned = false;
  /** The last pump found no outage, limit or slow start, and nothing has come to wait since. */
  #isQuiet = true;

  constructor({ health = {}, concurrency }: OriginOptions, context: AdmissionContext) {
    const { clock, random, network, joinTabs, onOutage, reach } = context;
    const inFlight = this.#inFlight;
    this.#limit = { ...codeOf<ConcurrencyCode>(concurrency) };
    const { maxInFlight = Infinity } = this.#limit;
    this.#context = context;
    this.origin = {
      network,
      health: new OriginHealth(clock, random, health || { maxChance: -1 }, onOutage),
      limits: createRateLimits(clock, random),
      latency: new Latency(),
      slowStart: new SlowStart(clock, random),
      queue: new WaitQueue(),
      leader: joinTabs?.((word, from) => this.#receive(word, from)),
      watchers: new Set(),
      inFlight,
      maxInFlight,
      isPlaceFree: () => inFlight.size < maxInFlight,
    };
    this.outcomes = createOutcomes(clock, this.origin, reach, () => this.#pump());
    this.#lastAskedAt = clock.now();
    this.#setAlarm = createAlarm(clock, () => this.#pump());
    this.#setAnnouncing = createAlarm(clock, () => this.#announce());
    this.#watchSleepUntil = network.sleepDetector.watch((asleepMs) => this.#wake(asleepMs));
    this.#stopWatching = network.subscribe(() => {
      if (this.#isWaitedFor()) this.#pump();
    });
  }

  /** A permit, if it may go at once. */
  enter(target: Target): Permit | undefined {
    const isGood = this.#isGood();
    const mayGo = isGood || this.isOpen(target);
    this.#lastAskedAt = this.#context.clock.now();
    return isGood || (mayGo && !this.#isBehind(target)) ? this.#grant(target) : undefined;
  }

  /** Waits for a permit. `undefined` when no place to wait is left. */
  wait(ask: Ask, who: WhoWaits): Waiter | undefined {
    const { queue } = this.origin;
    this.#forgetOld();
    this.#lastAskedAt = this.#context.clock.now();
    const isLimited = isQueued(this.origin, ask);
    const { maxQueued = Infinity, queueTimeoutMs: limitMs = Infinity } = isLimited
      ? this.#limit
      : {};
    if (queue.size() >= maxQueued) return undefined;
    if (ask.isWish) this.#hastenFor(ask);
    const expiresAt = Math.min(ask.askedAt + ask.maxPauseMs, this.#lastAskedAt + limitMs);
    this.#isQuiet = false;
    this.#pumpSoon();
    return queue.add(ask, expiresAt, who);
  }

  /** No longer wanted. */
  leave(waiter: Waiter): void {
    if (this.origin.queue.remove(waiter)) this.#pumpSoon();
  }

  /** Goes now, whatever is known of the origin. */
  force(waiter: Waiter): void {
    const down = this.origin.health.downFor(waiter.ask);
    this.#send(waiter, down?.probes.isProbing() ? undefined : down);
    this.#pump();
  }

  /** Asked for again: its wait starts anew. */
  renew(waiter: Waiter): void {
    this.origin.queue.renew(waiter, this.#context.clock.now());
    this.#pump();
  }

  /** To call when attempts may have come to the foreground, or have left it. */
  reconsider(): void {
    if (this.#isQuiet && this.origin.watchers.size === 0) return;
    this.origin.queue.rereadForeground(this.#context.clock.now(), true);
    this.#pump();
  }

  /** There may be a network again, or another one: all that is down without an answer is probed at once. */
  hastenProbes(): void {
    const { health, latency, slowStart } = this.origin;
    latency.forget();
    slowStart.countFromNow();
    health.hasten();
    this.#pump();
  }

  /** Keeps probing what is down for something that is shown, until the returned function is called. */
  watch(watcher: Watcher): () => void {
    const { watchers } = this.origin;
    watchers.add(watcher);
    this.#pumpSoon();
    return () => void watchers.delete(watcher);
  }

  /** Whether something new may go there at once. */
  isOpen(place: Place): boolean {
    this.#forgetOld();
    return isQueued(this.origin, place) && this.origin.isPlaceFree();
  }

  /** Whether the endpoint, or all of the origin, is taken for down. */
  isDown(endpoint: string): boolean {
    return this.origin.health.isDown(endpoint);
  }

  /** Why something new would wait now, and until when as far as is known. */
  whyPaused(place: Place): Pause {
    return whyPaused(this.origin, place);
  }

  /** A Retry-After, and what it speaks for. */
  pause(limitScope: string, retryAfterMs: number): void {
    const { limits, leader } = this.origin;
    limits.pause(limitScope, retryAfterMs);
    leader?.say({ kind: 'limit', scope: limitScope, forMs: retryAfterMs, remaining: 0 });
    this.#pump();
  }

  /** A 429 for what was sent then, and how long to wait where it says that. */
  refuse(limitScope: string, sentAt: number, retryAfterMs: number | undefined): void {
    const { limits, leader } = this.origin;
    const pace = limits.refuse(limitScope, sentAt, retryAfterMs);
    if (pace.pauseMs > 0) leader?.say({ kind: 'pace', scope: limitScope, ...pace });
    this.#pump();
  }

  /** Takes over what the `RateLimit` header of an answer said. */
  allow(limitScope: string, { remaining, resetAt }: RateLimitState): void {
    const { limits, leader } = this.origin;
    const resetInMs = resetAt - this.#context.clock.now();
    const ofScope = [...this.#inFlight].filter((target) => target.limitScope === limitScope);
    // Its own attempt is counted in what is left.
    limits.allow(limitScope, remaining + 1 - ofScope.length, resetInMs);
    leader?.say({ kind: 'limit', scope: limitScope, forMs: resetInMs, remaining });
    this.#pump();
  }

  /** Nothing waits or is under way, and nothing is known that holds. */
  isIdle(): boolean {
    this.#forgetOld();
    return !this.#isWaitedFor() && this.#inFlight.size === 0 && !this.#hasOutage();
  }

  /** Stops updating the status that is shown. Attempts that wait go on as before. */
  dispose(): void {
    this.#isDisposed = true;
    this.origin.watchers.clear();
    this.#stopWatching();
    this.origin.leader?.close();
    // An outage ends with it.
    this.#lastAskedAt = -Infinity;
    this.#pump();
  }

  /** Nothing is known against the origin, nothing waits, and there is a place. */
  #isGood(): boolean {
    const { network, isPlaceFree } = this.origin;
    return this.#isQuiet && isPlaceFree() && !network.isOffline() && !this.#isForgotten();
  }

  /** A user has asked for what is down: it is probed soon, unless only the device may be offline. */
  #hastenFor(ask: Ask): void {
    const { network, health } = this.origin;
    const down = health.downFor(ask);
    if (down && !isOffline(network, down)) down.probes.hasten();
  }

  #isWaitedFor(): boolean {
    return this.origin.queue.size() > 0;
  }

  #hasOutage(): boolean {
    return this.origin.health.down().length > 0;
  }

  #isForgotten(): boolean {
    return this.#context.clock.now() - this.#lastAskedAt >= forgetMs;
  }

  /** After a minute without requests an outage is forgotten: the next request is sent. */
  #forgetOld(): void {
    if (!this.#isWaitedFor() && this.#isForgotten()) this.outcomes.forget();
  }

  /** A retry in a slow start: others have waited for longer. */
  #isBehind({ isNew, endpoint }: Target): boolean {
    return !isNew && this.origin.slowStart.isUnderWay(endpoint) && this.#isWaitedFor();
  }

  #grant(target: Target, probed?: Health, isInTurn = false): Permit {
    const { limits, health, leader, slowStart } = this.origin;
    const sentAt = this.#context.clock.now();
    this.#inFlight.add(target);
    const pace = limits.spend(target.limitScope);
    if (pace) leader?.say({ kind: 'pace', scope: target.limitScope, ...pace });
    health.recordSent(target.endpoint, sentAt);
    const endProbe = probed?.probes.start();
    if (probed) leader?.lead(probed.scope);
    let [isFree, isOver] = [false, false];
    const leavePlace = (): boolean => {
      if (isFree) return false;
      isFree = true;
      this.#inFlight.delete(target);
      if (isInTurn) slowStart.finish();
      return true;
    };
    const free = (): void => {
      if (leavePlace() && this.#isWaitedFor()) this.#pump();
    };
    const settle: Permit['settle'] = (outcome, error, isUnused) => {
      leavePlace();
      if (isOver) return;
      isOver = true;
      if (!outcome) endProbe?.(false, isUnused);
      else {
        if (!isRefusal(outcome)) limits.accept(target.limitScope, sentAt);
        this.outcomes.record(target.endpoint, sentAt, endProbe, outcome, error);
      }
      const isBad = outcome?.kind !== 'ok' && this.#hasOutage();
      if (!this.#isQuiet || isBad || this.origin.watchers.size > 0) this.#pump();
    };
    const isTrial = !!probed || isInTurn || health.isDown(everything);
    return { isProbe: !!probed, isTrial, free, settle };
  }

  #send(waiter: Waiter, probed?: Health, isInTurn?: boolean): void {
    if (this.origin.queue.remove(waiter))
      waiter.who.take(this.#grant(waiter.ask, probed, isInTurn));
  }

  /** Does whatever is due, and comes back when something is. */
  #pump(): void {
    const { network, queue, limits, slowStart, watchers } = this.origin;
    network.sleepDetector.check();
    const now = this.#context.clock.now();
    this.#forgetOld();
    queue.rereadForeground(now, false);
    limits.spread((scope) => queue.sizeOf(scope));
    const dueAt = sendDue(this.origin, now, (...sent) => this.#send(...sent));
    if (!this.#isWaitedFor()) slowStart.stop();
    const [watchedAt, watcher] = nextWatcher(this.origin, now);
    this.#setAlarm(Math.min(dueAt, watchedAt, this.#changesAt()));
    this.#watchSleepUntil(this.#isWaitedFor() ? Infinity : 0);
    this.#isQuiet = !this.#isWaitedFor() && !this.#hasOutage() && limits.known.size === 0;
    this.#context.onChange();
    this.#announce();
    // Last: it begins an attempt, which comes here.
    if (watcher && watchedAt <= now && watchers.delete(watcher)) watcher.probe();
  }

  /** When what is known of the origin changes next, where that is waited for or shown. */
  #changesAt(): number {
    const { queue, leader, limits } = this.origin;
    if (this.#isWaitedFor()) {
      const scopes = queue.groups().map(({ limitScope }) => limitScope);
      return Math.min(leader?.repeat() ?? Infinity, limits.nextAt(scopes));
    }
    if (!this.#context.isWatched() || this.#isDisposed) return Infinity;
    return Math.min(this.#hasOutage() ? this.#lastAskedAt + forgetMs : Infinity, limits.nextAt());
  }

  /** Once for all that come in one turn. */
  #pumpSoon(): void {
    if (this.#isPumpPlanned) return;
    this.#isPumpPlanned = true;
    queueMicrotask(() => {
      this.#isPumpPlanned = false;
      this.#pump();
    });
  }

  #announce(): void {
    const { origin } = this;
    const isMore = origin.queue.announce((group) => whyPaused(origin, group));
    this.#setAnnouncing(isMore ? this.#context.clock.now() : Infinity);
  }

  /** Another tab has said what it knows of the origin. */
  #receive(word: Word, from: number): void {
    const { health, limits, leader } = this.origin;
    const { kind, scope } = word;
    if (kind === 'limit') limits.advise(scope, word.remaining, word.forMs);
    else if (kind === 'pace') limits.hear(scope, word);
    else if (kind === 'up')
      this.outcomes.recover(health.recover(scope), between(this.#context.random, 0, followMs));
    else if (health.maxChance >= 0 && (!word.isProbed || leader?.hear(scope, from)))
      health.follow(scope);
    this.#pump();
  }

  /** Time asleep does not count as waiting. */
  #wake(asleepMs: number): void {
    this.origin.queue.extend(asleepMs);
    this.hastenProbes();
  }
}
