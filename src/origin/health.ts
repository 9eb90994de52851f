import type { Clock, Random } from '../lib/clock.ts';
import { isUnavailable, type Outcome } from '../policy/outcome.ts';
import { createProbeSchedule, type ProbeSchedule } from './probe-schedule.ts';
import { everything } from './wait-queue.ts';

/** When an endpoint or an origin is taken for down. */
export interface HealthOptions {
  /**
   * The chance, at the usual failure rate, below which consecutive failures are an outage.
   * @default 0.002
   */
  readonly maxChance?: number | undefined;
}

/** What is known of one endpoint, or of all of its origin: up, or down and probed. */
export class Health {
  /** The endpoint, or `everything`. */
  readonly scope: string;
  readonly probes: ProbeSchedule;
  /** When this tab probes it next, as far as is known. */
  probeAt: number | undefined;
  /** Since when it has been down; undefined while it is up. */
  downSince: number | undefined;
  /** Since the last good answer: how many attempts have failed, where, and when the first was sent. */
  failures = 0;
  readonly failed: Set<string> = new Set();
  failingSince: number = Infinity;
  /** When the latest of those was sent that have failed, and that were answered. */
  failedSentAt: number = -Infinity;
  answeredSentAt: number = -Infinity;
  usualRate = 0;
  /** When its latest attempt has failed, if that stands alone. */
  aloneAt: number = -Infinity;
  /** Since the last good answer every attempt was rejected: none was answered or timed out. */
  isRejected = true;

  constructor(scope: string, probes: ProbeSchedule) {
    this.scope = scope;
    this.probes = probes;
  }
}

/** The health of an origin and of its endpoints. */
export interface OriginHealth {
  readonly maxChance: number;
  /** The origin, and its endpoints that have failed. */
  readonly all: () => readonly Health[];
  /** What is down and probed: the origin or, while that is up, its endpoints. */
  readonly down: () => readonly Health[];
  /** What keeps an endpoint from being asked: itself or its origin, when that is down. */
  readonly downFor: (endpoint: string) => Health | undefined;
  readonly recordSent: (endpoint: string, sentAt: number) => void;
  /** `isRejected`: without an answer or a time-out. @returns what is down by that. */
  readonly recordFailure: (
    endpoint: string,
    sentAt: number,
    isRejected: boolean,
  ) => Health | undefined;
  /** @returns what is up by that, and how long it was down. */
  readonly recordSuccess: (endpoint: string, sentAt: number) => Recovery | undefined;
  /** Another tab has found it down. */
  readonly follow: (scope: string) => void;
  /** Another tab has found it up. */
  readonly recover: (scope: string) => Recovery | undefined;
  /** What was down is not known to be; with `isRejected`, only where every attempt was rejected. @returns the scopes. */
  readonly reset: (isRejected?: boolean) => readonly string[];
  /** It is the only endpoint of its origin: nothing was sent to another one for a minute. */
  readonly isOnlyOne: (endpoint: string) => boolean;
  /** How often the endpoint has failed since its last good answer. */
  readonly failures: (endpoint: string) => number;
  /** When the latest attempt to the endpoint was sent that had a good answer. */
  readonly answeredSentAt: (endpoint: string) => number;
  /** Other endpoints have been answered since this one fails. */
  readonly isItsOwnFault: (endpoint: string) => boolean;
  /** Its latest failure stands alone: soon after it was sent, at a healthy origin. A fast retry may follow. */
  readonly isAlone: (endpoint: string) => boolean;
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
/** Endpoints that have failed and are remembered. */
const maxEndpoints = 50;
/** How much of the usual failure rate is kept at a failure and, because few are seen, at a success. */
const keptAtFailure = 0.9;
const keptAtSuccess = 0.97;
/** What is answered so soon after it was taken for down was no outage: it fails now and then. */
const leastOutageMs = 500;
/** What has failed so soon after it was sent may be well at once; so may its decision be late. */
const soonMs = 1000;
/** What is sent so soon after a failure that stood alone is its fast retry. */
const fastMs = 100;
/** An origin that fails so often is not healthy. */
const healthyRate = 0.5;
/** The least that the usual failure rate is taken for. */
export const leastRate = 0.04;

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

/**
 * n failures in a row are an outage when pⁿ ≤ `maxChance`, p being the usual failure rate (a moving
 * average): two for what is healthy, seven for what fails every fifth time. So it is fast for a tab with
 * one request in five seconds, and not false for a busy one. An origin is down only if different
 * endpoints have failed, with no good answer since.
 *
 * A good answer ends an outage. Of an endpoint it must have been sent no earlier than what failed; that
 * an origin is not down, any answer shows. What was sent before it begins none: of thirty at once at 90 %
 * errors the three that are answered speak for all of them.
 */
export function createHealth(
  clock: Clock,
  random: Random,
  { maxChance = 0.002 }: HealthOptions,
  onOutage?: OutageListener,
): OriginHealth {
  const open = (scope: string): Health => new Health(scope, createProbeSchedule(clock, random));
  const origin = open(everything);
  /** Only what has failed is here. */
  const endpoints = new Map<string, Health>();
  let answeredAt = -Infinity;
  /** Where something was sent last, and when something was sent elsewhere. */
  let latest = '';
  let latestAt = -Infinity;
  let elsewhereAt = -Infinity;

  const all = (): Health[] => [origin, ...endpoints.values()];
  const isDown = ({ downSince }: Health): boolean => downSince !== undefined;
  const find = (scope: string): Health | undefined =>
    scope === everything ? origin : endpoints.get(scope);
  const findOrOpen = (scope: string): Health => {
    const known = find(scope);
    if (known) return known;
    // The first to have come, and to be up, is forgotten.
    if (endpoints.size >= maxEndpoints) {
      const old = [...endpoints.values()].find((one) => !isDown(one)) ?? [...endpoints.values()][0];
      if (old) {
        end(old);
        endpoints.delete(old.scope);
      }
    }
    const health = open(scope);
    endpoints.set(scope, health);
    return health;
  };
  const downFor: OriginHealth['downFor'] = (endpoint) =>
    [origin, endpoints.get(endpoint)].find((health) => health && isDown(health));
  const begin = (health: Health, isEarly = false): void => {
    health.downSince = clock.now();
    health.probes.begin(isEarly);
    // The countdown that one of its endpoints shows goes on.
    for (const { downSince, probes } of health === origin ? endpoints.values() : [])
      if (downSince !== undefined) origin.probes.promise(probes.promisedAt());
    onOutage?.(health.scope);
  };
  const end = (health: Health): Recovery | undefined => {
    const { scope, downSince, probes } = health;
    health.downSince = undefined;
    health.failures = 0;
    health.failingSince = Infinity;
    health.failed.clear();
    health.isRejected = true;
    if (downSince === undefined) return undefined;
    probes.close();
    // An origin that is up takes its endpoints with it.
    if (health === origin) for (const own of endpoints.values()) end(own);
    const downMs = clock.now() - downSince;
    onOutage?.(scope, downMs);
    return { scope, downMs };
  };
  /** @returns whether that has shown an outage. */
  const fail = (
    health: Health,
    endpoint: string,
    sentAt: number,
    isRejected: boolean,
    isEarly = false,
  ): boolean => {
    const { failed, usualRate, answeredSentAt } = health;
    // What was sent before something that was answered shows only that it fails now and then.
    if (sentAt <= answeredSentAt) {
      health.usualRate = usualRate * keptAtFailure + 1 - keptAtFailure;
      return false;
    }
    failed.add(endpoint);
    health.isRejected &&= isRejected;
    health.failures++;
    health.failingSince = Math.min(health.failingSince, sentAt);
    health.failedSentAt = Math.max(health.failedSentAt, sentAt);
    const chance = Math.max(usualRate, leastRate) ** health.failures;
    const isOne = health === origin && failed.size < 2;
    if (isDown(health) || chance > maxChance || isOne) return false;
    begin(health, isEarly);
    return true;
  };
  // With `health: false` nothing is known of it.
  const isHealthy = (): boolean =>
    maxChance >= 0 &&
    origin.answeredSentAt > -Infinity &&
    origin.usualRate < healthyRate &&
    !isDown(origin);
  const succeed = (health: Health, sentAt: number): Recovery | undefined => {
    const { downSince = Infinity, failedSentAt, failures, usualRate } = health;
    if (health !== origin && isDown(health) && sentAt < failedSentAt) return undefined;
    health.answeredSentAt = Math.max(health.answeredSentAt, sentAt);
    // What failed in an outage says nothing of the usual; what failed beside what was answered does.
    const kept = clock.now() - downSince >= leastOutageMs ? 1 : keptAtFailure ** failures;
    health.usualRate = (usualRate * kept + 1 - kept) * keptAtSuccess;
    return end(health);
  };
  return {
    maxChance,
    all,
    down: () => (isDown(origin) ? [origin] : [...endpoints.values()].filter(isDown)),
    downFor,
    recordSent(endpoint, sentAt) {
      if (endpoint !== latest) elsewhereAt = latestAt;
      latest = endpoint;
      latestAt = sentAt;
    },
    recordFailure(endpoint, sentAt, isRejected) {
      const own = findOrOpen(endpoint);
      const now = clock.now();
      const isEarly = sentAt > own.failedSentAt && sentAt - own.aloneAt < fastMs;
      own.aloneAt = isHealthy() && own.failures === 0 && now - sentAt < soonMs ? now : -Infinity;
      // What is down by itself says nothing of the others.
      const saysMore = isDown(origin) || !isDown(own);
      const hasTripped = fail(own, endpoint, sentAt, isRejected, isEarly);
      const isAll = saysMore && fail(origin, endpoint, sentAt, isRejected);
      return hasTripped || isAll ? downFor(endpoint) : undefined;
    },
    recordSuccess(endpoint, sentAt) {
      answeredAt = clock.now();
      const own = endpoints.get(endpoint);
      const ended = own && succeed(own, sentAt);
      return succeed(origin, sentAt) ?? ended;
    },
    follow(scope) {
      const health = findOrOpen(scope);
      // Another tab knows how its attempts failed.
      health.isRejected = false;
      if (!isDown(health)) begin(health);
    },
    recover(scope) {
      const health = find(scope);
      return health && isDown(health) ? end(health) : undefined;
    },
    reset(isRejected = false) {
      const ended = all().filter((one) => isDown(one) && (one.isRejected || !isRejected));
      for (const health of isRejected ? ended : all()) end(health);
      return ended.map(({ scope }) => scope);
    },
    isOnlyOne: (endpoint) =>
      clock.now() - (endpoint === latest ? elsewhereAt : latestAt) >= forgetMs,
    failures: (endpoint) => endpoints.get(endpoint)?.failures ?? 0,
    answeredSentAt: (endpoint) => endpoints.get(endpoint)?.answeredSentAt ?? -Infinity,
    isAlone(endpoint) {
      const { aloneAt = -Infinity } = endpoints.get(endpoint) ?? {};
      return origin.failures <= 1 && clock.now() - aloneAt < soonMs;
    },
    isItsOwnFault: (endpoint) => answeredAt > (endpoints.get(endpoint)?.failingSince ?? Infinity),
  };
}
