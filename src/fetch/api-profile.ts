import { checkNames, reject } from '../lib/check.ts';
import { definePolicy, type Policy, type PolicyOptions } from '../policy/options.ts';
import { checkMade, type MadeBy } from '../lib/made-by.ts';
import type { IdempotencyProfile } from './idempotency-profile.ts';
import { checkExpect, type Expected } from './expected-content.ts';
import { toUrl } from './request-parts.ts';

/** What is known of the API behind some URLs. */
export interface ApiProfile {
  /**
   * Which requests it is about: a URL (its origin and everything below its path), a RegExp over the
   * absolute URL, or a function of it. The first profile that matches counts.
   */
  readonly match: string | RegExp | ((url: URL) => boolean);
  /** What its good answers must be: see `expect` of `steady.fetch`. @default json for `steady.json`, else any */
  readonly expect?: Expected | undefined;
  /** How its failures are answered. */
  readonly policy?: PolicyOptions | undefined;
  /** Its requests are idempotent whatever their method, such as queries sent by POST. @default false */
  readonly idempotent?: boolean | undefined;
  /**
   * What is healthy or not as one, by a name, or by a function of method and URL that makes one.
   * @default the method and the path, without the query string and with ids folded:
   * `GET /orders/17?page=2` is `GET /orders/:id`
   * @example
   * ```ts
   * createSteadfetch({
   *   apis: [{ match: '/graphql', endpoint: (_method, url) => `${url.searchParams.get('operation')}` }],
   * });
   * ```
   */
  readonly endpoint?: string | ((method: string, url: URL) => string) | undefined;
  /** What a Retry-After or a RateLimit of its answers speaks for. @default 'endpoint' */
  readonly limitsApplyTo?: 'endpoint' | 'api' | undefined;
  /**
   * A part of the origin with a rate limit and a fate of its own: its requests have a budget, a
   * health, a limit and concurrency that are not shared with the rest. @default the origin as a whole
   */
  readonly partition?: string | undefined;
  /** How many of its attempts may be in flight. Needs a `partition`. @default that of the instance */
  readonly concurrency?: MadeBy<'limitConcurrency'> | undefined;
  /** How its answers tell its rate limit, where that is not as elsewhere: in headers of its own. @default that of the instance */
  readonly rateLimit?: MadeBy<'rateLimitFields'> | undefined;
  /** Its support of idempotency keys. Without it no POST or PATCH is sent again. @default none */
  readonly idempotency?: IdempotencyProfile | undefined;
}

/** Finds what is known of the API behind a request. */
export type FindApi = (url: string) => ApiProfile | undefined;

/**
 * @throws TypeError when a profile is not as it must be.
 */
export function defineApis(given: readonly ApiProfile[], policy: Policy): FindApi {
  if (process.env.NODE_ENV !== 'production' && !Array.isArray(given))
    reject('createSteadfetch', 'apis', given, 'a list of profiles');
  const apis = given.map((api, index): ApiProfile => {
    const operation = `createSteadfetch: apis[${index}]`;
    if (process.env.NODE_ENV !== 'production') check(operation, api, policy);
    const { idempotency, concurrency, partition, rateLimit } = api;
    return {
      ...api,
      idempotency: checkMade(operation, 'idempotency', idempotency, 'defineIdempotency'),
      // A limit of a part of the origin needs the name of that part.
      concurrency: partition
        ? checkMade(operation, 'concurrency', concurrency, 'limitConcurrency')
        : undefined,
      rateLimit: checkMade(operation, 'rateLimit', rateLimit, 'rateLimitFields'),
    };
  });
  return (url) => {
    const absolute = apis[0] && toUrl(url);
    return absolute && apis.find(({ match }) => isMatching(match, absolute));
  };
}

const names: readonly (keyof ApiProfile)[] = [
  'match',
  'expect',
  'policy',
  'idempotent',
  'endpoint',
  'limitsApplyTo',
  'partition',
  'concurrency',
  'rateLimit',
  'idempotency',
];

function check(operation: string, api: ApiProfile, base: Policy): void {
  checkNames(operation, api, names);
  const { match, partition, concurrency, expect, policy } = api;
  definePolicy(operation, base, policy);
  checkExpect(operation, expect);
  if (concurrency && !partition) {
    reject(
      operation,
      'partition',
      partition,
      'a name, because its concurrency limit is not that of the whole origin',
    );
  }
  const isMatch =
    typeof match === 'string'
      ? toUrl(match, 'http://localhost')
      : typeof match === 'function' || match instanceof RegExp;
  if (!isMatch) reject(operation, 'match', match, 'a URL, a RegExp or a function');
}

function isMatching(match: ApiProfile['match'], url: URL): boolean {
  if (typeof match === 'function') return match(url);
  if (match instanceof RegExp) return url.href.search(match) >= 0;
  // Resolved at the request: on a server there is no location when the module loads.
  const base = toUrl(match);
  // Whole segments only: /v1 is not /v10, and api.example is not api.example.evil.
  const below = base?.pathname.replace(/\/*$/, '/');
  return url.origin === base?.origin && `${url.pathname}/`.startsWith(`${below}`);
}
