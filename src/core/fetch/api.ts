import { inDevelopment } from '../lib/development.ts';
import { callApp, isBoolean, reporterOf } from '../lib/input/callback.ts';
import { checkNames, reject } from '../lib/input/check.ts';
import { checkMade, code, codeOf, type MadeBy } from '../lib/input/made-by.ts';
import { toUrl } from '../lib/input/url.ts';
import type { Environment } from '../operation/environment.ts';
import type { Failure } from '../policy/outcome.ts';
import { definePolicy, inPolicy, type Policy, type PolicyOptions } from '../policy/options.ts';

/** The expected content of an answer: `any` accepts everything. */
export type Expected = 'json' | 'any';

/** How an API treats idempotency keys, wherever it takes them. */
export interface IdempotencyRules {
  /** The most characters that a key may have. A UUID that is too long goes without its dashes: 32. @default Infinity */
  readonly maxLength?: number | undefined;
  /**
   * How long the API remembers a key, in milliseconds. An older key is never sent again without asking, because the API
   * would do the work anew. @default Infinity
   */
  readonly lifetimeMs?: number | undefined;
  /**
   * Whether this 409 means that the first request with the key is still running. Then the same request is sent again
   * later, with the same key and bytes. @default every 409, as in draft-ietf-httpapi-idempotency-key-header
   */
  readonly inProgress?: ((response: Response) => boolean) | undefined;
  /**
   * Whether this answer outside 2xx means that the first request with the key was done. Then `steady.fetch` resolves
   * with it. The function gets a copy, whose body it may read. @default no such answer does
   */
  readonly alreadyDone?: ((response: Response) => boolean | Promise<boolean>) | undefined;
  /**
   * Whether the answer says that a retry is worth it; undefined if it does not say so. It counts for more than the
   * status. @default `X-Should-Retry`; without it, `Idempotent-Replayed: true` means no, because that failure is stored
   */
  readonly shouldRetry?: ((response: Response) => boolean | undefined) | undefined;
  /**
   * Whether the API stores a refusal under its key and repeats it without a mark. Then a 400, 402, 409 (unless it means
   * `inProgress`), 410 or 422 shows that no earlier request with the key took effect.
   * @default `false`: only an answer with `Idempotent-Replayed: true` is known to be a stored one
   */
  readonly refusalIsStored?: boolean | undefined;
  /**
   * Fields of the body that one request uses up, such as the token of a captcha. A request that is sent again has new
   * values in these fields, and otherwise the same bytes. Each is a name, or a path in JSON: `variables.captcha`. The
   * API must not compare them for its keys. A token in a header needs no declaration. @default none
   */
  readonly fresh?: readonly string[] | undefined;
}

/** An API that takes its keys in a header. */
export interface HeaderIdempotency extends IdempotencyRules {
  /** The request header that carries the key. */
  readonly header: string;
  /** The format of the header. `structured` is in quotes (RFC 9651), as the draft requires. @default structured */
  readonly format?: 'structured' | 'raw' | undefined;
  readonly body?: undefined;
}

/** An API that takes its keys in its JSON bodies. */
export interface BodyIdempotency extends IdempotencyRules {
  /**
   * The field of the JSON object that carries the key, or its path: `variables.idempotencyKey`. The body must be given as
   * text, or in a `Request`.
   */
  readonly body: string;
  readonly header?: undefined;
  readonly format?: undefined;
}

/** The declared behaviour of an API towards idempotency keys. */
export type IdempotencyDeclaration = HeaderIdempotency | BodyIdempotency;

/** A declaration with the code of keys: one of `profiles`, or made by `defineIdempotency`. */
export type IdempotencyProfile = IdempotencyDeclaration & MadeBy<'defineIdempotency'>;

/** The declared facts of the API behind some URLs. */
export interface ApiProfile {
  /**
   * Which requests it is about. The first profile that matches a request counts, and only that one.
   *
   * | `match` | fits |
   * |---|---|
   * | a URL or a path: `'https://api.example/v1'`, `'/api'` | the same origin, and this path with everything below it: `/v1/orders`, not `/v10`. A path belongs to the page's own origin |
   * | a RegExp | if it is found in the absolute URL |
   * | a function of the URL | if it returns true; one that throws or is asynchronous fits nothing |
   */
  readonly match: string | RegExp | ((url: URL) => boolean);
  /** The content that its good answers must have: see `expect` of `steady.fetch`. @default json for `steady.json`, else any */
  readonly expect?: Expected | undefined;
  /** The policy for its failures, laid over that of the instance. */
  readonly policy?: PolicyOptions | undefined;
  /** True if requests are idempotent whatever their method, such as queries sent by POST. @default false */
  readonly idempotent?: boolean | undefined;
  /**
   * The unit of health: a name, or a function of method and URL that returns one.
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
  /** The scope of a Retry-After or a RateLimit in its answers. @default 'endpoint' */
  readonly limitsApplyTo?: 'endpoint' | 'api' | undefined;
  /**
   * The name of a part of the origin that fails by itself. Its requests share health, rate limit and concurrency with
   * each other, and not with the rest of the origin. @default the origin as a whole
   */
  readonly partition?: string | undefined;
  /** How many of its requests may be in flight. Needs a `partition`. @default that of the instance */
  readonly concurrency?: MadeBy<'limitConcurrency'> | undefined;
  /** The headers in which its answers tell a rate limit, if they differ from those of the instance. @default that of the instance */
  readonly rateLimit?: MadeBy<'rateLimitFields'> | undefined;
  /** Reads outcomes that do not show in the status, such as GraphQL errors with status 200. @default none */
  readonly outcomes?: MadeBy<'classifyOutcomes'> | undefined;
  /** Adds credentials to its requests, and renews them after a 401. @default requests are sent as they are */
  readonly auth?: MadeBy<'refreshOn401'> | undefined;
  /** Conditions of its writes (`If-Match`). The server refuses a write whose condition no longer holds, so it may be sent again. @default none */
  readonly conditional?: MadeBy<'conditionalWrites'> | undefined;
  /** The header that tells its servers how long the client waits. @default none */
  readonly deadline?: MadeBy<'deadlineHeader'> | undefined;
  /**
   * How the API supports idempotency keys. Without a declaration no POST or PATCH is sent again. `'none'` means that the API
   * has no such keys: the behaviour is the same, and no warning recommends them. @default not known
   */
  readonly idempotency?: IdempotencyProfile | 'none' | undefined;
}

/** The part of `classifyOutcomes` that reads errors. */
export interface ErrorReader {
  readonly by: 'classifyOutcomes';
  /** The failure that an error shows, if that differs from the known one. */
  readonly ofError: (error: unknown, known: Failure) => Failure | undefined;
}

/** The arguments of a request, read once. */
export interface PassedRequest {
  /** The Request; undefined if a URL was passed. */
  readonly passed: Request | undefined;
  readonly init: RequestInit;
  /** In upper case. */
  readonly method: string;
  readonly url: string;
}

/** The facts that an option of an API reads from the arguments of a request. */
export interface Inspected {
  /** The idempotency key that the request carries already. */
  readonly ownKey?: string | undefined;
  /** True if the request may be sent again, whatever its method. */
  readonly idempotent?: boolean | undefined;
}

/** The part of an `Extension` that reads the arguments of a request. */
export interface Inspector {
  /** The function of the package that makes it. */
  readonly by: string;
  readonly inspect?: (api: Api, passed: PassedRequest) => Inspected;
}

/** A checked API profile, with the code of its options. */
export interface Api extends Omit<ApiProfile, 'idempotency'> {
  readonly idempotency?: IdempotencyProfile | undefined;
  /** True if the API is declared to take no idempotency keys. */
  readonly isKeyless: boolean;
  /** In the order in which their steps run. */
  readonly extensions: readonly Inspector[];
}

/** Finds the profile of the API behind a request. */
export type FindApi = (url: string) => Api | undefined;

const nothing: Inspected = {};

/** Reads the meaning of a request's arguments for its API. */
export function inspect(api: Api | undefined, passed: PassedRequest): Inspected {
  let known = nothing;
  for (const extension of api?.extensions ?? [])
    if (extension.inspect) known = { ...known, ...extension.inspect(api as Api, passed) };
  return known;
}

/** The APIs of an instance. */
interface Apis extends Pick<Environment, 'classifyError'> {
  readonly findApi: FindApi;
  /** The names of all `fresh` fields. */
  readonly freshFields: readonly string[];
}

/** The options that bring an extension, in the order in which their steps run, and their makers. */
const extensionMakers = [
  ['outcomes', 'classifyOutcomes'],
  ['idempotency', 'defineIdempotency'],
  ['auth', 'refreshOn401'],
  ['deadline', 'deadlineHeader'],
  ['conditional', 'conditionalWrites'],
] as const;

/** All options that bring code, and their makers. */
const makers = [
  ...extensionMakers,
  ['concurrency', 'limitConcurrency'],
  ['rateLimit', 'rateLimitFields'],
] as const;

/**
 * @throws TypeError when a profile is not as it must be.
 */
export function defineApis(given: readonly ApiProfile[], policy: Policy): Apis {
  const apis = given.map((api, index): Api => {
    const operation = `createSteadfetch: apis[${index}]`;
    inDevelopment(() => check(operation, api, policy));
    // In production a wrong value is left out.
    const keys = (api as ApiProfile | null)?.idempotency;
    const isKeyless = keys === 'none';
    const idempotency = isKeyless ? undefined : keys;
    const checked: Omit<Api, 'extensions'> = { ...api, idempotency, isKeyless };
    for (const [option, by] of makers)
      Object.assign(checked, { [option]: checkMade(operation, option, checked[option], by) });
    const extensions = extensionMakers.flatMap(([option]): readonly Inspector[] => {
      const extension = checked[option]?.[code];
      return extension ? [extension] : [];
    });
    // A limit of a part of the origin needs the name of that part.
    const { concurrency, partition } = checked;
    return { ...checked, extensions, concurrency: partition ? concurrency : undefined };
  });
  const fresh = apis.flatMap(({ idempotency }) => idempotency?.fresh ?? []);
  return {
    freshFields: fresh.map((path) => path.slice(path.lastIndexOf('.') + 1)),
    findApi(url) {
      const absolute = apis[0] && toUrl(url);
      return absolute && apis.find((api) => isMatching(api, absolute));
    },
    classifyError(error, known) {
      for (const { outcomes } of apis) {
        const failure = codeOf<ErrorReader>(outcomes)?.ofError(error, known);
        if (failure) return failure;
      }
      return known;
    },
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
  'outcomes',
  'auth',
  'conditional',
  'deadline',
];

const inOutcomes = {
  classifyResponse: 'outcomes: classifyOutcomes({ classifyResponse })',
  classifyError: 'outcomes: classifyOutcomes({ classifyError })',
} as const;

function check(operation: string, api: ApiProfile, base: Policy): void {
  checkNames(operation, api, names, { ...inPolicy(true), ...inOutcomes });
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
  if (typeof match === 'string' && match.includes('*')) {
    const path = match.replace(/\/?\*.*/s, '') || '/';
    reject(operation, 'match', match, `a URL or a path without *: '${path}' fits all below it`);
  }
}

function isMatching(api: Api, url: URL): boolean {
  const { match } = api;
  if (typeof match === 'function') {
    const rule = inDevelopment(
      () =>
        'the profile is not about this request. It must be synchronous and return true or false',
    );
    return !!callApp(() => match(url), isBoolean, reporterOf(match, 'apis: match', rule));
  }
  if (match instanceof RegExp) return url.href.search(match) >= 0;
  // Resolved at the request: on a server there is no location when the module loads.
  const base = toUrl(match);
  // Whole segments only: /v1 is not /v10, and api.example is not api.example.evil.
  const below = base?.pathname.replace(/\/*$/, '/');
  return url.origin === base?.origin && `${url.pathname}/`.startsWith(`${below}`);
}

/** @throws TypeError when it is not one of these values. */
export function checkExpect(operation: string, expect: Expected | undefined): void {
  if (
    process.env.NODE_ENV !== 'production' &&
    expect !== undefined &&
    !['json', 'any'].includes(expect)
  )
    reject(operation, 'expect', expect, 'json or any');
}
