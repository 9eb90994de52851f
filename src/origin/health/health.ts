import type { Clock, Random } from '../../lib/clock.ts';
import { isUnavailable, type Outcome } from '../../policy/outcome.ts';
import type { Place } from '../ask.ts';
import { everything } from '../wait-queue.ts';
import { Health } from './endpoint-health.ts';
import { ProbeSchedule } from './probe-schedule.ts';

/** When an endpoint or an origin is taken for down. */
export interface HealthOptions {
  /**
   * The chance, at the usual failure rate, below which consecutive failures are an outage.
   * @default 0.002
   */
  readonly maxChance?: number | undefined;
}

/** The end of an outage. */
export interface Recovery {
  readonly scope: string;
  readonly downMs: number;
}

/** Is told once of each beginning of an outage, and once of its end: then `downMs` is how long it was. */
export type OutageListener = (scope: string, downMs?: number) => void;

/** Of what nobody has asked for so long, nothing is known. */
export const forgetMs = 60_000;
/** Endpoints that are remembered: those that have failed, and those that were asked last. */
const maxEndpoints = 50;
/** An origin that fails so often is not healthy. */
const healthyRate = 0.5;
/**
 * What an outcome shows of its origin. Only what an outage looks like counts against it: a 4xx is an
 * answer, and so are 501 and 505; an abort, or an answer of somebody else, such as the 511 of a captive
 * portal, shows nothing.
 */
export function shownBy(outcome?: Outcome): 'alive' | 'outage' | undefined {
  if (outcome?.kind === 'ok') return 'alive';
  if (outcome?.kind === 'timeout' || outcome?.kind === 'network') return 'outage';
  if (outcome?.kind !== 'http' || outcome.status === 511) return undefined;
  return outcome.status === 500 || isUnavailable(outcome.status) ? 'outage' : 'alive';
}

const isDown = (health: Health | undefined): boolean => health?.downSince !== undefined;

/**
 * The health of an origin and of its endpoints.
 *
 * A good answer ends the outage of its endpoint, if it was sent no earlier than what failed; what was sent
 * before it begins none: of thirty at once at 90 % errors the three that are answered speak for all of them.
 *
 * An origin is down if different endpoints fail one after the other; any answer shows that it is not. What
 * fails while others are answered is broken by itself, and says nothing of its origin until it is answered.
 * An endpoint that has not failed yet may work: the failures of others do not hold it back.
 */
export class OriginHealth {
  readonly maxChance: number;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #onOutage: OutageListener | undefined;
  readonly #origin: Health;
  /** Only what has failed is here. */
  readonly #endpoints: Map<string, Health> = new Map();
  /** When each endpoint was asked last, the latest at the end. */
  readonly #asked: Map<string, number> = new Map();
  /** The endpoint that answered last, when it did, and when another one last did. */
  #answered = { endpoint: everything, at: -Infinity, elsewhereAt: -Infinity };

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

  /** The origin, and its endpoints that have failed. */
  all(): readonly Health[] {
    return [this.#origin, ...this.#endpoints.values()];
  }

  /** The healths that are down: that of the origin or, while it is up, those of its endpoints. */
  down(): readonly Health[] {
    if (isDown(this.#origin)) return [this.#origin];
    return [...this.#endpoints.values()].filter((one) => isDown(one));
  }

  isAnyDown(): boolean {
    return this.all().some((one) => isDown(one));
  }

  /** Whether an endpoint, or all of its origin, is down. */
  isDown(endpoint: string): boolean {
    return isDown(this.#origin) || isDown(this.#endpoints.get(endpoint));
  }

  /**
   * The health that holds this request back: that of its endpoint or its origin. A request that does harm
   * when it is sent twice is no way to find out whether the origin is down for it, too.
   */
  downFor({ endpoint, risk, mayBeOffline }: Omit<Place, 'limitScope'>): Health | undefined {
    const origin = this.#origin;
    const own = this.#endpoints.get(endpoint);
    const hasFailed = own !== undefined && (own.failures > 0 || isDown(own));
    const isBound = hasFailed || risk === 2 || (origin.isTold && !mayBeOffline);
    if (isDown(origin) && isBound) return origin;
    return isDown(own) ? own : undefined;
  }

  recordSent(endpoint: string, sentAt: number): void {
    const asked = this.#asked;
    asked.delete(endpoint);
    asked.set(endpoint, sentAt);
    if (asked.size > maxEndpoints)
      for (const oldest of asked.keys()) return void asked.delete(oldest);
  }

  /** @returns what is down by that. */
  recordFailure(endpoint: string, sentAt: number, kind: Outcome['kind']): Health | undefined {
    const own = this.#findOrOpen(endpoint);
    const origin = this.#origin;
    const isNews = isDown(origin) || !this.isBroken(endpoint);
    const now = this.#clock.now();
    const isEarly = own.isFastRetry(sentAt);
    own.recordAlone(sentAt, now, this.#isHealthy());
    const isOwn =
      own.recordFailure(endpoint, sentAt, kind, this.maxChance) && this.#begin(own, false, isEarly);
    const isWhole =
      isNews &&
      origin.recordFailure(endpoint, sentAt, kind, this.maxChance) &&
      origin.failed.size > 1 &&
      this.#begin(origin);
    if (!isOwn && !isWhole) return undefined;
    return isDown(origin) ? origin : own;
  }

  /** @returns what is up by that, and how long it was down. */
  recordSuccess(endpoint: string, sentAt: number): Recovery | undefined {
    const now = this.#clock.now();
    const own = this.#endpoints.get(endpoint);
    const ended = own?.recordSuccess(sentAt, now, false) ? this.#end(own) : undefined;
    this.#origin.recordSuccess(sentAt, now, true);
    const whole = this.#end(this.#origin);
    this.#recordAnswer(endpoint, now);
    return whole ?? ended;
  }

  /** It is taken for down: another tab has found it so, or the device has no network. */
  follow(scope: string): void {
    this.#begin(this.#findOrOpen(scope), true);
  }

  /** Another tab has found it up. */
  recover(scope: string): Recovery | undefined {
    const health = scope === everything ? this.#origin : this.#endpoints.get(scope);
    const ended = health && this.#end(health);
    this.#recordAnswer(scope, this.#clock.now());
    return ended;
  }

  /** What was down is not known to be; with `isRejected`, only where every attempt was rejected. @returns the scopes. */
  reset(isRejected = false): readonly string[] {
    const ended = this.all().filter((one) => isDown(one) && (one.isRejected || !isRejected));
    for (const health of isRejected ? ended : this.all()) this.#end(health);
    return ended.map(({ scope }) => scope);
  }

  /** Its cause may have gone: all that is down without an answer of the server is probed at once. */
  hasten(): void {
    for (const { isAnswered, probes } of this.all()) if (!isAnswered) probes.hasten(true);
  }

  /** Of all that was asked for a minute, nothing is up. */
  isAllDown(): boolean {
    const since = this.#clock.now() - forgetMs;
    return [...this.#asked].every(([endpoint, at]) => at <= since || this.isDown(endpoint));
  }

  /** How often the endpoint has failed since its last good answer. */
  failures(endpoint: string): number {
    return this.#endpoints.get(endpoint)?.failures ?? 0;
  }

  /** When the latest attempt to the endpoint was sent that had a good answer. */
  answeredSentAt(endpoint: string): number {
    return this.#endpoints.get(endpoint)?.answeredSentAt ?? -Infinity;
  }

  /** Others have been answered since this endpoint fails. */
  isBroken(endpoint: string): boolean {
    const { endpoint: latest, at, elsewhereAt } = this.#answered;
    const { failingSince = Infinity } = this.#endpoints.get(endpoint) ?? {};
    return (endpoint === latest ? elsewhereAt : at) >= failingSince;
  }

  #recordAnswer(endpoint: string, now: number): void {
    const { endpoint: latest, at, elsewhereAt } = this.#answered;
    // That others are answered may be the end of its outage: a probe finds out.
    const down = this.down().filter((one) => one.scope !== endpoint && !this.isBroken(one.scope));
    this.#answered = { endpoint, at: now, elsewhereAt: endpoint === latest ? elsewhereAt : at };
    for (const { scope, probes } of down) if (this.isBroken(scope)) probes.hasten();
  }

  /** The latest failure of the endpoint stands alone. A fast retry may follow. */
  isAlone(endpoint: string): boolean {
    const own = this.#endpoints.get(endpoint);
    return this.#origin.failures <= 1 && !!own?.isAlone(this.#clock.now());
  }

  /** With `health: false` nothing is known of it. */
  #isHealthy(): boolean {
    const { answeredSentAt, failures, usualRate } = this.#origin;
    const isAnswered = this.maxChance >= 0 && answeredSentAt > -Infinity;
    return isAnswered && failures === 0 && usualRate < healthyRate && !isDown(this.#origin);
  }

  #open(scope: string): Health {
    return new Health(scope, new ProbeSchedule(this.#clock, this.#random));
  }

  #findOrOpen(scope: string): Health {
    const endpoints = this.#endpoints;
    const known = scope === everything ? this.#origin : endpoints.get(scope);
    if (known) return known;
    // The first to have come, and to be up, is forgotten.
    if (endpoints.size >= maxEndpoints) {
      const all = [...endpoints.values()];
      const old = all.find((one) => !isDown(one)) ?? all[0];
      if (old) {
        this.#end(old);
        endpoints.delete(old.scope);
      }
    }
    const health = this.#open(scope);
    endpoints.set(scope, health);
    return health;
  }

  /** @returns whether it was up. */
  #begin(health: Health, isTold = false, isEarly = false): boolean {
    if (isDown(health)) return false;
    health.begin(this.#clock.now(), isTold, isEarly);
    // The countdown that one of its endpoints shows goes on.
    for (const one of health === this.#origin ? this.#endpoints.values() : [])
      health.probes.promise(one.probes.promisedAt());
    this.#onOutage?.(health.scope);
    return true;
  }

  /** It is up. */
  #end(health: Health): Recovery | undefined {
    const now = this.#clock.now();
    // The endpoints that went down with their origin go out with it. What was broken beside it stays down.
    if (health === this.#origin && isDown(health))
      for (const own of this.#endpoints.values())
        if (!this.isBroken(own.scope)) this.#announce(own, own.release(now));
    return this.#announce(health, health.end(now));
  }

  #announce({ scope }: Health, downMs: number | undefined): Recovery | undefined {
    if (downMs === undefined) return undefined;
    this.#onOutage?.(scope, downMs);
    return { scope, downMs };
  }
}
