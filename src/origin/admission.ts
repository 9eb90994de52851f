import { createAlarm, type Alarm } from '../lib/timer.ts';
import { between, type Clock, type Random } from '../lib/clock.ts';
import type { RateLimitState } from '../headers/rate-limit.ts';
import { codeOf } from '../lib/input/made-by.ts';
import type { Hear, Leader, Word } from '../tabs/leader.ts';
import { isOffline, isUp, mayEnter, whyPaused } from './gates.ts';
import type { Health } from './health/endpoint-health.ts';
import { forgetMs, OriginHealth, type OutageListener } from './health/health.ts';
import { Latency } from './health/latency.ts';
import { nextWatcher, probeFirst, sendDue } from './due.ts';
import type { Reach } from './health/unreadable.ts';
import {
  type ConcurrencyCode,
  type ConcurrencyOptions,
  isQuiet,
  type Network,
  type Origin,
  type OriginOptions,
  type Watcher,
} from './origin.ts';
import { Outcomes } from './outcomes.ts';
import { GrantedPermit, type PermitContext } from './permit.ts';
import type { Ask, Pause, Permit, Place, Target, Waiter, WhoWaits } from './ask.ts';
import { WaitQueue } from './wait-queue.ts';
import { RateLimits } from './rate-limit.ts';
import { SlowStart } from './slow-start.ts';

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
 * The way out to one origin: each attempt gets a permit at once (`enter`), or waits for one. The queue has one
 * order (wait-queue.ts), and an attempt goes when its gates are open (gates.ts). So whatever may open one ends in
 * `#pump`, which sends all that are due (due.ts), and comes back when the next one is.
 */
export class Admission {
  /** The health, limits and queue of the origin. */
  readonly origin: Origin;
  /** Records how attempts ended. */
  readonly outcomes: Outcomes;
  readonly #context: AdmissionContext;
  readonly #permits: PermitContext;
  readonly #limit: ConcurrencyOptions;
  readonly #setAlarm: Alarm;
  readonly #setAnnouncing: Alarm;
  readonly #watchSleepUntil: (until: number) => void;
  readonly #stopWatching: () => void;
  #lastAskedAt: number;
  #isDisposed = false;
  #isPumpPlanned = false;

  constructor({ health = {}, concurrency }: OriginOptions, context: AdmissionContext) {
    const { clock, random, network, joinTabs, onOutage, reach } = context;
    this.#limit = { ...codeOf<ConcurrencyCode>(concurrency) };
    this.#context = context;
    const leader = joinTabs?.((word, from) => this.#receive(word, from));
    this.origin = {
      network,
      health: new OriginHealth(clock, random, health || { maxChance: -1 }, onOutage),
      limits: new RateLimits(clock, random, (word) => leader?.say(word)),
      latency: new Latency(),
      slowStart: new SlowStart(clock, random),
      queue: new WaitQueue(),
      leader,
      watchers: new Set(),
      inFlight: new Set(),
      maxInFlight: this.#limit.maxInFlight ?? Infinity,
    };
    this.outcomes = new Outcomes(clock, this.origin, reach, () => this.#pump());
    const { origin, outcomes } = this;
    this.#permits = { clock, origin, outcomes, onFree: () => this.#pump() };
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
    const isOpen = this.isOpen(target);
    this.#lastAskedAt = this.#context.clock.now();
    return isOpen ? new GrantedPermit(this.#permits, target) : undefined;
  }

  /** Waits for a permit. `undefined` when no place to wait is left. */
  wait(ask: Ask, who: WhoWaits): Waiter | undefined {
    const { queue, health, network } = this.origin;
    this.#forgetOld();
    this.#lastAskedAt = this.#context.clock.now();
    const limit = isUp(this.origin, ask) ? this.#limit : {};
    const { maxQueued = Infinity, queueTimeoutMs: limitMs = Infinity } = limit;
    if (queue.size() >= maxQueued) return undefined;
    // A user has asked for what is down: it is probed soon, unless only the device may be offline.
    const down = ask.isWish ? health.downFor(ask) : undefined;
    if (down && !isOffline(network, down)) down.probes.hasten();
    const expiresAt = Math.min(ask.askedAt + ask.maxPauseMs, this.#lastAskedAt + limitMs);
    this.#pumpSoon();
    return queue.add(ask, expiresAt, who);
  }

  /** No longer wanted. */
  leave(waiter: Waiter): void {
    if (this.origin.queue.remove(waiter)) this.#pumpSoon();
  }

  /** Goes now, whatever is known of the origin. */
  force(waiter: Waiter): void {
    this.#send(waiter, this.origin.health.downFor(waiter.ask), false);
    this.#pump();
  }

  /** Asked for again: its wait starts anew. */
  renew(waiter: Waiter): void {
    this.origin.queue.renew(waiter, this.#context.clock.now());
    this.#pump();
  }

  /** To call when attempts may have come to the foreground, or have left it. */
  reconsider(): void {
    if (isQuiet(this.origin)) return;
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

  /** A user wants all that is down to be probed now. */
  probeNow(): void {
    probeFirst(this.origin, this.#context.clock.now(), (waiter) => this.force(waiter));
    this.reconsider();
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
    return mayEnter(this.origin, place);
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
    this.origin.limits.pause(limitScope, retryAfterMs);
    this.#pump();
  }

  /** A 429 for what was sent then, and how long to wait where it says that. */
  refuse(limitScope: string, sentAt: number, retryAfterMs: number | undefined): void {
    this.origin.limits.refuse(limitScope, sentAt, retryAfterMs);
    this.#pump();
  }

  /** Takes over what the `RateLimit` header of an answer said. */
  allow(limitScope: string, { remaining, resetAt }: RateLimitState): void {
    const others = [...this.origin.inFlight].filter((target) => target.limitScope === limitScope);
    const resetInMs = resetAt - this.#context.clock.now();
    // Its own attempt is counted in what is left.
    this.origin.limits.allow(limitScope, remaining, others.length - 1, resetInMs);
    this.#pump();
  }

  /** Nothing waits or is under way, and nothing is known that holds. */
  isIdle(): boolean {
    this.#forgetOld();
    return (
      !this.#isWaitedFor() && this.origin.inFlight.size === 0 && !this.origin.health.isAnyDown()
    );
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

  #isWaitedFor(): boolean {
    return this.origin.queue.size() > 0;
  }

  /** After a minute without requests an outage is forgotten: the next request is sent. */
  #forgetOld(): void {
    const isOld = this.#context.clock.now() - this.#lastAskedAt >= forgetMs;
    if (isOld && !this.#isWaitedFor()) this.outcomes.forget();
  }

  #send(waiter: Waiter, probed: Health | undefined, isInTurn: boolean): void {
    if (this.origin.queue.remove(waiter))
      waiter.who.take(new GrantedPermit(this.#permits, waiter.ask, probed, isInTurn));
  }

  /** Does whatever is due, and comes back when something is. */
  #pump(): void {
    const { network, queue, slowStart, watchers } = this.origin;
    network.sleepDetector.check();
    const now = this.#context.clock.now();
    this.#forgetOld();
    queue.rereadForeground(now, false);
    const dueAt = sendDue(this.origin, now, (waiter, down) =>
      this.#send(waiter, down, !down && slowStart.advance(waiter.ask.endpoint)),
    );
    if (!this.#isWaitedFor()) slowStart.stop();
    const [watchedAt, watcher] = nextWatcher(this.origin, now);
    this.#setAlarm(Math.min(dueAt, watchedAt, this.#changesAt()));
    this.#watchSleepUntil(this.#isWaitedFor() ? Infinity : 0);
    this.#context.onChange();
    this.#announce();
    // Last: it begins an attempt, which comes here.
    if (watcher && watchedAt <= now && watchers.delete(watcher)) watcher.probe();
  }

  /** When something is to be said again to other tabs, or changes in what is shown. */
  #changesAt(): number {
    const { leader, limits } = this.origin;
    if (this.#isWaitedFor()) return leader?.repeat() ?? Infinity;
    if (!this.#context.isWatched() || this.#isDisposed) return Infinity;
    const forgetAt = this.origin.health.isAnyDown() ? this.#lastAskedAt + forgetMs : Infinity;
    return Math.min(forgetAt, limits.pausedUntil() ?? Infinity);
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
    const isMore = origin.queue.announce(({ shared }) => whyPaused(origin, shared));
    this.#setAnnouncing(isMore ? this.#context.clock.now() : Infinity);
  }

  /** Another tab has said what it knows of the origin. */
  #receive(word: Word, from: number): void {
    const { health, limits, leader } = this.origin;
    const { kind, scope } = word;
    if (kind === 'limit' || kind === 'pace') limits.receive(word);
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
