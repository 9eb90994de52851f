import type { Clock, Random } from '../lib/clock.ts';
import { createHealth, type Health, type HealthOptions } from './health.ts';

/** The scope that is not one endpoint but all of the origin. */
export const everything = '';

/** The health of an origin and of its endpoints. */
export interface Vitals {
  readonly origin: Health;
  /** That of a scope: an endpoint, or everything. */
  readonly of: (scope: string) => Health;
  /** The same, as far as anything is known of it. */
  readonly known: (scope: string) => Health | undefined;
  /** What is down and probed: the origin or, while that is up, its endpoints. */
  readonly down: () => readonly (readonly [scope: string, health: Health])[];
  /** What keeps an endpoint from being asked: itself or its origin, when that is down. */
  readonly downFor: (endpoint: string) => readonly [scope: string, health: Health] | undefined;
  /** An attempt is sent there. */
  readonly recordSent: (endpoint: string) => void;
  /** It is the only endpoint of its origin: nothing was sent to another one for a minute. */
  readonly isOnlyOne: (endpoint: string) => boolean;
  /** How often the endpoint has failed since its last good answer. */
  readonly failures: (endpoint: string) => number;
  /** Other endpoints have been answered since this one fails. */
  readonly isItsOwnFault: (endpoint: string) => boolean;
  /** @returns whether that has shown an outage. */
  readonly recordFailure: (endpoint: string, sentAt: number) => boolean;
  /** @returns the scopes that are up again, and how long they were down. */
  readonly recordSuccess: (
    endpoint: string,
    sentAt: number,
  ) => readonly (readonly [scope: string, downMs: number])[];
  /** What was down is not known to be. */
  readonly reset: () => void;
}

/** Of what nobody has asked for so long, nothing is known. */
export const forgetMs = 60_000;
/** Endpoints that have failed and are remembered. */
const maxEndpoints = 50;
const nothing: readonly never[] = [];

export function createVitals(clock: Clock, random: Random, options: HealthOptions): Vitals {
  const origin = createHealth(clock, random, 2, options);
  /** Only what has failed is here. */
  const endpoints = new Map<string, Health>();
  let answeredAt = -Infinity;
  /** Where something was sent last, and when something was sent elsewhere. */
  let latest = '';
  let latestAt = -Infinity;
  let elsewhereAt = -Infinity;

  const of = (scope: string): Health => {
    if (scope === everything) return origin;
    const known = endpoints.get(scope);
    if (known) return known;
    // The first to have come, and to be up, is forgotten.
    if (endpoints.size >= maxEndpoints) {
      const old = [...endpoints].find(([, health]) => !health.isDown());
      endpoints.delete(old?.[0] ?? [...endpoints.keys()][0] ?? '');
    }
    const health = createHealth(clock, random, 1, options);
    endpoints.set(scope, health);
    return health;
  };
  return {
    origin,
    of,
    known: (scope) => (scope === everything ? origin : endpoints.get(scope)),
    down() {
      if (origin.isDown()) return [[everything, origin]];
      return endpoints.size === 0 ? nothing : [...endpoints].filter(([, one]) => one.isDown());
    },
    downFor(endpoint) {
      if (origin.isDown()) return [everything, origin];
      const own = endpoints.get(endpoint);
      return own?.isDown() ? [endpoint, own] : undefined;
    },
    recordSent(endpoint) {
      if (endpoint !== latest) elsewhereAt = latestAt;
      latest = endpoint;
      latestAt = clock.now();
    },
    isOnlyOne: (endpoint) =>
      clock.now() - (endpoint === latest ? elsewhereAt : latestAt) >= forgetMs,
    failures: (endpoint) => endpoints.get(endpoint)?.failures() ?? 0,
    isItsOwnFault: (endpoint) => answeredAt > (endpoints.get(endpoint)?.failingSince() ?? Infinity),
    recordFailure(endpoint, sentAt) {
      const own = of(endpoint);
      // What is down by itself says nothing of the others.
      const isEvidence = origin.isDown() || !own.isDown();
      const hasTripped = own.recordFailure(endpoint, sentAt);
      if (!isEvidence || !origin.recordFailure(endpoint, sentAt)) return hasTripped;
      // The countdown that one of them shows goes on.
      for (const { probes } of endpoints.values()) origin.probes.promise(probes.promisedAt());
      return true;
    },
    recordSuccess(endpoint, sentAt) {
      answeredAt = clock.now();
      const [ownSince, originSince] = [endpoints.get(endpoint)?.downSince(), origin.downSince()];
      const isOwn = !!endpoints.get(endpoint)?.recordSuccess(sentAt);
      const isOrigin = origin.recordSuccess(sentAt);
      if (isOrigin) return [[everything, answeredAt - originSince]];
      return isOwn ? [[endpoint, answeredAt - (ownSince ?? answeredAt)]] : nothing;
    },
    reset() {
      origin.reset();
      for (const health of endpoints.values()) health.reset();
    },
  };
}
