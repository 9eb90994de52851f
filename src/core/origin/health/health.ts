import type { Clock, Random } from '../../lib/clock.ts';
import { isServerError, type Outcome } from '../../policy/outcome.ts';
import { keepLast } from '../../lib/store.ts';
import type { Place, Target } from '../ask.ts';
import { everything } from '../wait-queue.ts';
import { Health } from './endpoint-health.ts';
import { FailingUrls, LastAnswer } from './failing.ts';
import { ProbeSchedule } from './probe-schedule.ts';

/** When an endpoint or an origin counts as down. */
export interface HealthOptions {
  /**
   * Failures in a row are an outage if their probability, at the usual failure rate, is at most this.
   * @default 0.002
   */
  readonly maxChance?: number | undefined;
}

/** The end of an outage. */
export interface Recovery {
  readonly scope: string;
  readonly downMs: number;
}

/** Called at the start of an outage and, with its length in milliseconds, at its end. */
export type OutageListener = (scope: string, downMs?: number) => void;

/** After this time without requests, an outage is forgotten. */
export const forgetMs = 60_000;
/** The number of endpoints whose failures are remembered, and of those whose last request is. */
const maxEndpoints = 50;
/** An origin with a higher usual failure rate is not healthy. */
const healthyRate = 0.5;
/** A first sending passes an outage this long after the last request to its endpoint. */
const firstGapMs = 1200;
/**
 * The evidence of an outcome about its origin. Only failures typical of an outage count against it: a 4xx, a 501
 * or a 505 shows that it is alive. An abort, or the 511 of a captive portal, shows nothing.
 */
export function shownBy(outcome: Outcome): 'alive' | 'outage' | undefined {
  if (outcome.kind === 'ok') return 'alive';
  if (outcome.kind === 'timeout' || outcome.kind === 'network') return 'outage';
  if (outcome.kind !== 'http' || outcome.status === 511) return undefined;
  return isServerError(outcome.status) ? 'outage' : 'alive';
}

/** The names of a request: its endpoint stands for many URLs. */
type Named = Pick<Target, 'endpoint' | 'resource'>;
type Unlimited = Omit<Place, 'limitScope'>;

/**
 * The health of an origin and of its endpoints.
 *
 * A success ends the outage of its endpoint, if its request was sent no earlier than those that failed. Failures of
 * requests sent before a successful one begin no outage: of thirty simultaneous requests at 90 % errors, the three
 * successes speak for all.
 *
 * An origin is down if several endpoints fail in a row; any answer shows that it is up. An endpoint that fails while
 * others answer is broken by itself, and is no evidence about its origin until it answers. In the same way a URL that
 * fails while others of its endpoint answer is no evidence about the endpoint. A URL without a failure may work, so
 * failures of others do not hold it back.
 */
export class OriginHealth {
  readonly failing: FailingUrls = new FailingUrls();
  readonly maxChance: number;
  /** Whether other tabs are believed: not after an answer here has refuted them, until this tab finds an outage itself. */
  believesOthers = true;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onOutage: OutageListener | undefined;
  readonly #origin: Health;
  /** Only endpoints that have failed. */
  readonly #endpoints: Map<string, Health> = new Map();
  /** When the last request of each endpoint was sent, the latest at the end. */
  readonly #sentAt: Map<string, number> = new Map();
  /** The endpoint that answered last. */
  readonly #answered: LastAnswer = new LastAnswer();
  /** The URL of each endpoint that answered last. */
  readonly #urlAnswered: Map<string, LastAnswer> = new Map();

  constructor(
    clock: Clock,
    random: Random,
    { maxChance = 0.002 }: HealthOptions,
    onOutage?: OutageListener,
  ) {
    this.#clock = clock;
    this.#random = random;
    this.maxChance = maxChance;
    this.#onOutage = onOutage;
    this.#origin = this.#open(everything);
  }

  /** The health of the origin, then those of its endpoints that have failed. */
  all(): readonly Health[] {
    return [this.#origin, ...this.#endpoints.values()];
  }

  /** The origin if it is down, and otherwise its endpoints that are down. */
  down(): readonly Health[] {
    if (this.#origin.outage) return [this.#origin];
    return [...this.#endpoints.values()].filter(({ outage }) => outage);
  }

  isAnyDown(): boolean {
    return this.down().length > 0;
  }

  /** The health of the origin, or of an endpoint; undefined if that has not failed. */
  of(scope: string): Health | undefined {
    return scope === everything ? this.#origin : this.#endpoints.get(scope);
  }

  /** Whether an endpoint or its origin is down. */
  isDown(endpoint: string): boolean {
    return !!(this.#origin.outage ?? this.#endpoints.get(endpoint)?.outage);
  }

  /**
   * When an attempt passes an outage: the first one of an operation that is never repeated. Its user has pressed a
   * button, and learns at once whether it was done; holding it back would spare the server nothing but that press.
   * The same holds for a query that its app never retries.
   */
  passesAt({ endpoint, risk, isNew, isOnce }: Unlimited): number {
    if ((risk < 2 || !isNew) && !isOnce) return Infinity;
    return (this.#sentAt.get(endpoint) ?? -Infinity) + firstGapMs;
  }

  /**
   * The health that holds an attempt back: that of its endpoint or its origin. What is down does not hold back a URL
   * that has not failed, unless another tab has found the whole origin down.
   */
  downFor(place: Unlimited): Health | undefined {
    const { outage } = this.#origin;
    const own = this.#endpoints.get(place.endpoint);
    if (!outage && !own?.outage) return undefined;
    if (this.passesAt(place) <= this.#clock.now()) return undefined;
    const { hasFailed = this.hasFailed(place), mayBeOffline } = place;
    const isFollowed = !!outage?.isFollowed && !mayBeOffline;
    if (isFollowed || (outage && hasFailed)) return this.#origin;
    return hasFailed ? own : undefined;
  }

  /** Whether its URL has failed or, of an operation that is sent again, its endpoint: a retry may have another URL. */
  hasFailed({ endpoint, resource = endpoint, isNew = true }: Unlimited): boolean {
    return this.failing.failures(resource) > 0 || (!isNew && !!this.of(endpoint)?.failures);
  }

  recordSent(endpoint: string, sentAt: number): void {
    const all = this.#sentAt;
    all.delete(endpoint);
    all.set(endpoint, sentAt);
    keepLast(all, maxEndpoints);
  }

  /** @returns the endpoint or origin that went down with this failure. */
  recordFailure(place: Named, sentAt: number, kind: Outcome['kind']): Health | undefined {
    const { endpoint, resource } = place;
    const own = this.#findOrOpen(endpoint);
    const origin = this.#origin;
    const isBroken = this.isBroken(endpoint);
    const isNews = !!origin.outage || !isBroken;
    own.isBrokenAgain ||= isBroken && sentAt > this.#answered.elsewhereAt(endpoint);
    const now = this.#clock.now();
    const isEarly = own.isFastRetry(sentAt);
    own.recordAlone(sentAt, now, this.#isHealthy());
    this.failing.record(resource, endpoint, sentAt);
    // Failures of requests that were sent before the latest answer still count towards the usual rate.
    if (this.isUrlBroken(place) && sentAt > own.answeredSentAt) return undefined;
    const isOwn =
      own.recordFailure(endpoint, sentAt, kind, this.maxChance) && this.#begin(own, isEarly);
    const isWhole =
      isNews &&
      origin.recordFailure(endpoint, sentAt, kind, this.maxChance) &&
      origin.failed.size > 1 &&
      this.#begin(origin);
    if (!isOwn && !isWhole) return undefined;
    this.believesOthers = true;
    return origin.outage ? origin : own;
  }

  /** @returns the outage that this success ended. */
  recordSuccess({ endpoint, resource }: Named, sentAt: number): Recovery | undefined {
    const now = this.#clock.now();
    this.failing.recordAnswer(resource);
    const urls = this.#urlAnswered.get(endpoint) ?? new LastAnswer();
    urls.record(resource, sentAt);
    this.#urlAnswered.delete(endpoint);
    this.#urlAnswered.set(endpoint, urls);
    keepLast(this.#urlAnswered, maxEndpoints);
    const own = this.#endpoints.get(endpoint);
    const isRefuted = [own, this.#origin].some((one) => one?.outage?.isFollowed && !one.failures);
    const ended = own?.recordSuccess(sentAt, now, false) ? this.#end(own) : undefined;
    this.#origin.recordSuccess(sentAt, now, true);
    const whole = this.#end(this.#origin);
    this.#recordAnswer(endpoint, now);
    // They may be offline alone, or have a shorter time limit.
    if (isRefuted && (whole ?? ended)) this.believesOthers = false;
    return whole ?? ended;
  }

  /** Begins an outage that another tab has found, or of a device without a network. */
  follow(scope: string): void {
    if (this.maxChance >= 0) this.#begin(this.#findOrOpen(scope), false, true);
  }

  /** Ends an outage: another tab has found the recovery. */
  recover(scope: string): Recovery | undefined {
    const health = this.of(scope);
    const ended = health && this.#end(health);
    this.#recordAnswer(scope, this.#clock.now());
    return ended;
  }

  /** Forgets all outages or, with `isRejected`, those in which `fetch` rejected every attempt. @returns the scopes. */
  reset(isRejected = false): readonly string[] {
    const ended = this.all().filter((one) => one.outage && (one.isRejected || !isRejected));
    if (!isRejected) this.failing.clear();
    for (const health of isRejected ? ended : this.all()) this.#end(health);
    return ended.map(({ scope }) => scope);
  }

  /** Makes probes due at once for everything that went down without an answer: the cause may be gone. */
  hasten(): void {
    for (const { isAnswered, probes } of this.all()) if (!isAnswered) probes.hasten(true);
  }

  /** Whether every endpoint used within the last minute is down. */
  isAllDown(): boolean {
    const since = this.#clock.now() - forgetMs;
    return [...this.#sentAt].every(([endpoint, at]) => at <= since || this.isDown(endpoint));
  }

  /** Whether other endpoints have answered since this one began to fail. */
  isBroken(endpoint: string): boolean {
    const { failingSince = Infinity } = this.#endpoints.get(endpoint) ?? {};
    return this.#answered.elsewhereAt(endpoint) >= failingSince;
  }

  /** Whether it is one of few URLs of its endpoint that fail, and others have answered since it began to. Never with `health: false`. */
  isUrlBroken({ endpoint, resource }: Named): boolean {
    const answered = this.#urlAnswered.get(endpoint);
    return (
      this.maxChance >= 0 &&
      !!answered &&
      answered.elsewhereAt(resource) >= this.failing.since(resource) &&
      this.failing.areFew(endpoint)
    );
  }

  /**
   * Whether a URL that was never answered is all that fails at an origin that has answered others within a minute
   * before: probably it is broken by itself, though nothing has been answered since.
   */
  isOnlyFailure({ endpoint, resource }: Named): boolean {
    if (this.failing.wasAnswered(resource)) return false;
    const { answeredSentAt, failed } = this.#origin;
    const own = this.#endpoints.get(endpoint);
    // React Query alone waits for what hangs.
    if (!own?.isAnswered && !own?.isRejected) return false;
    const { failingSince } = own;
    const isOnly = failed.size === 0 || (failed.size === 1 && failed.has(endpoint));
    const sinceMs = failingSince - answeredSentAt;
    return isOnly && this.failing.areFew(endpoint) && sinceMs > 0 && sinceMs < forgetMs;
  }

  #recordAnswer(endpoint: string, now: number): void {
    // This answer may mean that the outages of other endpoints are over, so they are probed soon.
    const down = this.down().filter(({ scope }) => !this.isBroken(scope));
    this.#answered.record(endpoint, now);
    for (const { scope, probes } of down) if (this.isBroken(scope)) probes.hasten();
  }

  /** Whether the latest failure is isolated, so that a fast retry may follow. */
  isAlone(endpoint: string): boolean {
    const own = this.#endpoints.get(endpoint);
    return this.#origin.failures <= 1 && !!own?.isAlone(this.#clock.now());
  }

  /** Whether the origin has answered and has no failures now. Always false with `health: false`. */
  #isHealthy(): boolean {
    const { answeredSentAt, failures, usualRate, outage } = this.#origin;
    const isAnswered = this.maxChance >= 0 && answeredSentAt > -Infinity;
    return isAnswered && failures === 0 && usualRate < healthyRate && !outage;
  }

  #open(scope: string): Health {
    return new Health(scope, new ProbeSchedule(this.#clock, this.#random));
  }

  #findOrOpen(scope: string): Health {
    const endpoints = this.#endpoints;
    const known = this.of(scope);
    if (known) return known;
    // The oldest endpoint that is up makes room.
    if (endpoints.size >= maxEndpoints) {
      const all = [...endpoints.values()];
      const old = (all.find(({ outage }) => !outage) ?? all[0]) as Health;
      this.#end(old);
      endpoints.delete(old.scope);
    }
    const health = this.#open(scope);
    endpoints.set(scope, health);
    return health;
  }

  /** Begins an outage. @returns false if one is in progress. */
  #begin(health: Health, isEarly = false, isFollowed = false): boolean {
    if (health.outage) return false;
    health.begin(this.#clock.now(), isFollowed, isEarly);
    // A countdown that is shown for one of its endpoints stays true.
    for (const one of health === this.#origin ? this.#endpoints.values() : [])
      health.probes.promise(one.probes.promisedAt);
    this.#onOutage?.(health.scope);
    return true;
  }

  /** Ends an outage. */
  #end(health: Health): Recovery | undefined {
    const now = this.#clock.now();
    // Endpoints recover with their origin. One that is broken by itself is down again with its next failure.
    if (health === this.#origin && health.outage)
      for (const own of this.#endpoints.values()) {
        own.forgive(now, health);
        this.#announce(own, own.release(now));
      }
    return this.#announce(health, health.end(now));
  }

  #announce({ scope }: Health, downMs: number | undefined): Recovery | undefined {
    if (downMs === undefined) return undefined;
    this.#onOutage?.(scope, downMs);
    return { scope, downMs };
  }
}
