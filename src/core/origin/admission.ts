import { createAlarm, type Alarm } from '../lib/timer.ts';
import { between, type Clock, type Random } from '../lib/clock.ts';
import type { RateLimitState } from '../headers/rate-limit.ts';
import { codeOf } from '../lib/input/made-by.ts';
import type { Leader, Receive, TabMessage } from '../tabs/leader.ts';
import { isOffline, isUp, mayEnter, whyPaused } from './gates.ts';
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
import { GrantedPermit, Outcomes } from './outcomes.ts';
import type { Ask, Pause, Permit, Place, Target, Waiter, WaitListener } from './ask.ts';
import { Refusals, WaitQueue } from './wait-queue.ts';
import { RateLimits } from './limits/rate-limits.ts';
import { SlowStart } from './slow-start.ts';

/** The dependencies of an admission. */
export interface AdmissionContext {
  readonly clock: Clock;
  readonly random: Random;
  readonly network: Network;
  /** Whether the state of the origin is shown. */
  readonly isWatched: () => boolean;
  /** Joins the admissions of the same origin in other tabs. */
  readonly joinTabs?: ((receive: Receive) => Leader) | undefined;
  readonly onOutage?: OutageListener;
  readonly reach?: Reach | undefined;
  /** Called when the state of the origin may have changed. */
  readonly onChange: () => void;
}

/** Tabs release their requests at a random time within this after another tab has found a recovery. */
const followMs = 1500;

/**
 * The admission to one origin. An attempt gets a permit at once (`enter`), or waits for one (`wait`). The queue
 * has one order (wait-queue.ts), and an attempt is sent when its gates are open (gates.ts). Every event that may
 * open a gate calls `#pump`, which sends all attempts that are due (due.ts), and sets the alarm for the next.
 */
export class Admission {
  /** The health, limits and queue of the origin. */
  readonly origin: Origin;
  /** Records how attempts ended. */
  readonly outcomes: Outcomes;
  readonly #context: AdmissionContext;
  readonly #limit: ConcurrencyOptions;
  readonly #setAlarm: Alarm;
  readonly #setAnnouncing: Alarm;
  readonly #watchSleepUntil: (until: number) => void;
  readonly #stops: readonly (() => void)[];
  #lastAskedAt: number;
  #isDisposed = false;
  #isPumpPlanned = false;

  constructor({ health = {}, concurrency }: OriginOptions, context: AdmissionContext) {
    const { clock, random, network, joinTabs, onOutage, reach } = context;
    this.#limit = { ...codeOf<ConcurrencyCode>(concurrency) };
    this.#context = context;
    const leader = joinTabs?.((message, from) => this.#receive(message, from));
    this.origin = {
      network,
      health: new OriginHealth(clock, random, health || { maxChance: -1 }, onOutage),
      limits: new RateLimits(clock, random, (message) => leader?.post(message)),
      latency: new Latency(),
      slowStart: new SlowStart(clock, random),
      queue: new WaitQueue(),
      refusals: new Refusals(),
      leader,
      watchers: new Set(),
      inFlight: new Set(),
      maxInFlight: this.#limit.maxInFlight ?? Infinity,
      late: new Set(),
    };
    this.outcomes = new Outcomes(clock, this.origin, reach, () => this.#pump());
    this.#lastAskedAt = clock.now();
    this.#setAlarm = createAlarm(clock, () => this.#pump());
    this.#setAnnouncing = createAlarm(clock, () => this.#announce());
    this.#watchSleepUntil = network.sleepDetector.watch((asleepMs) => this.#wake(asleepMs));
    this.#stops = [
      network.subscribe(() => {
        if (this.origin.queue.size > 0) this.#pump();
      }),
      network.onBack(() => this.hastenProbes()),
    ];
  }

  /** Returns a permit if the attempt may be sent at once. */
  enter(target: Target): Permit | undefined {
    this.#lastAskedAt = this.#forgetOld();
    return mayEnter(this.origin, target) ? new GrantedPermit(this.outcomes, target) : undefined;
  }

  /** Waits for a permit. If the queue is full, the wait ends at once. */
  wait(request: Ask, listener: WaitListener): Waiter {
    const { queue, health, limits, network, refusals } = this.origin;
    const now = (this.#lastAskedAt = this.#forgetOld());
    const limit = isUp(this.origin, request) ? this.#limit : {};
    const { maxQueued = Infinity, queueTimeoutMs: limitMs = Infinity } = limit;
    const endsFrom = request.isOnServer ? now : refusals.endsFrom(request, now);
    // A user's request hastens the probe, unless the cause may be that the device is offline.
    const down = request.isWish ? health.downFor(request) : undefined;
    if (down && !isOffline(network, down)) down.probes.hasten();
    const patienceMs = queue.size >= maxQueued ? 0 : limitMs;
    const expiresAt = Math.min(request.askedAt + request.maxPauseMs, now + patienceMs);
    this.#pumpSoon();
    const read = { hasFailed: health.hasFailed(request), isOther: limits.isOther(request) };
    const end = { expiresAt: Math.max(expiresAt, endsFrom), endsFrom };
    return queue.add(request, { ...end, ...read }, listener);
  }

  /** Ends a wait that is no longer wanted. */
  leave(waiter: Waiter): void {
    if (this.origin.queue.remove(waiter)) this.#pumpSoon();
  }

  /** Sends an attempt now, whatever the state of the origin. */
  force(waiter: Waiter): void {
    this.#send(waiter, false);
    this.#pump();
  }

  /** Starts a wait anew, because the user has requested it again. */
  renew(waiter: Waiter): void {
    this.origin.queue.renew(waiter, this.#context.clock.now());
  }

  /** Call it when attempts may have entered or left the foreground. */
  reconsider(): void {
    if (isQuiet(this.origin)) return;
    this.origin.queue.rereadForeground(this.#context.clock.now(), true);
    this.#pump();
  }

  /** Probes at once everything that went down without an answer, because the network may have changed. */
  hastenProbes(): void {
    const { health, latency, slowStart } = this.origin;
    latency.forget();
    slowStart.countFromNow();
    health.hasten();
    this.#pump();
  }

  /** Probes everything that is down now, because a user asked for it. */
  probeNow(): void {
    probeFirst(this.origin, this.#context.clock.now(), (waiter) => this.force(waiter));
    this.reconsider();
  }

  /** Keeps probing for a watcher, until the returned function is called. */
  watch(watcher: Watcher): () => void {
    const { watchers } = this.origin;
    watchers.add(watcher);
    this.#pumpSoon();
    return () => void watchers.delete(watcher);
  }

  /** Whether a new attempt may be sent at once. */
  isOpen(place: Place): boolean {
    this.#forgetOld();
    return mayEnter(this.origin, place);
  }

  /** Why a new attempt would wait and, if known, until when. */
  whyPaused(place: Place): Pause {
    return whyPaused(this.origin, place);
  }

  /** Applies the `RateLimit` header of an answer. */
  allow(limitScope: string, { remaining, resetAt }: RateLimitState): void {
    const others = [...this.origin.inFlight].filter(
      ({ target }) => target.limitScope === limitScope,
    );
    const resetInMs = resetAt - this.#context.clock.now();
    // The server has already counted the attempt that it answers.
    this.origin.limits.allow(limitScope, remaining, others.length - 1, resetInMs);
  }

  /** Whether nothing waits, nothing is in flight and nothing is down. */
  isIdle(): boolean {
    this.#forgetOld();
    const { health, inFlight, queue } = this.origin;
    return queue.size === 0 && inFlight.size === 0 && !health.isAnyDown();
  }

  /** Stops updating the shown status. Waiting attempts continue as before. */
  dispose(): void {
    this.#isDisposed = true;
    this.origin.watchers.clear();
    for (const stop of this.#stops) stop();
    this.origin.leader?.close();
    // Makes `#pump` forget the outage.
    this.#lastAskedAt = -Infinity;
    this.#pump();
  }

  /** After a minute without requests an outage is forgotten: the next request is sent. @returns the time. */
  #forgetOld(): number {
    const now = this.#context.clock.now();
    const isOld = now - this.#lastAskedAt >= forgetMs;
    if (isOld && this.origin.queue.size === 0) this.outcomes.forget();
    return now;
  }

  /** Sends an attempt: as the probe of what is down or, `isInTurn`, as a part of the slow start. */
  #send(waiter: Waiter, isInTurn: boolean): void {
    const { health, queue, slowStart } = this.origin;
    const { request, listener } = waiter;
    const down = health.downFor(request);
    if (!queue.remove(waiter)) return;
    const isPart = isInTurn && !down && slowStart.advance(request.endpoint);
    listener.take(new GrantedPermit(this.outcomes, request, down, isPart));
  }

  /** Sends everything that is due, and sets the alarm for the next. */
  #pump(): void {
    const { health, network, queue, slowStart, watchers } = this.origin;
    network.sleepDetector.check();
    const now = this.#forgetOld();
    queue.rereadForeground(now, false);
    const dueAt = sendDue(this.origin, now, (waiter) => this.#send(waiter, true));
    const isWaitedFor = queue.size > 0;
    if (!isWaitedFor) slowStart.stop();
    const [watchedAt, watcher] = nextWatcher(this.origin, now);
    this.#setAlarm(Math.min(dueAt, watchedAt, this.#changesAt()));
    this.#watchSleepUntil(isWaitedFor ? Infinity : 0);
    this.#context.onChange();
    this.#announce();
    // Last, because it starts an attempt, which calls this method.
    if (!watcher || watchedAt > now || !watchers.delete(watcher)) return;
    // Whatever it sends: a request to a URL that has not failed passes the outage, and would be no probe.
    health.downFor(watcher.place)?.probes.start();
    watcher.probe();
  }

  /** When the next announcement to other tabs is due or, while nothing waits, the shown state changes. */
  #changesAt(): number {
    const { health, leader, limits, queue } = this.origin;
    if (queue.size > 0) return leader?.repeat() ?? Infinity;
    if (!this.#context.isWatched() || this.#isDisposed) return Infinity;
    const forgetAt = health.isAnyDown() ? this.#lastAskedAt + forgetMs : Infinity;
    return Math.min(forgetAt, limits.pausedUntil() ?? Infinity);
  }

  /** Pumps once for all requests of the same tick. */
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

  /** Handles a message of another tab about the origin. */
  #receive(message: TabMessage, from: number): void {
    const { health, limits, leader } = this.origin;
    const { kind, scope } = message;
    if (kind === 'limit' || kind === 'pace') limits.receive(message);
    else if (kind === 'up')
      this.outcomes.recover(health.recover(scope), between(this.#context.random, 0, followMs));
    else if (health.believesOthers && (!message.isProbed || leader?.yieldTo(scope, from)))
      health.follow(scope);
    this.#pump();
  }

  /** Time asleep does not count as waiting. */
  #wake(asleepMs: number): void {
    this.origin.queue.extend(asleepMs);
    this.hastenProbes();
  }
}
