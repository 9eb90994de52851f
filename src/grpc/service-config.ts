import { rejectValue } from '../core/lib/input/check.ts';
import type { PolicyOptions, ShouldRetry } from '../core/internal.ts';
import { toCode } from './status.ts';

type Json = Readonly<Record<string, unknown>>;

/** gRPC reads a higher number as this one. */
const mostAttempts = 5;

/**
 * The `retryPolicy` of a method in a gRPC service config: that of its own `methodConfig`, else of its
 * service, else of the default. Without one, no option is set. A request that is not idempotent is not sent
 * again, whatever the config says, unless it certainly was not processed.
 *
 * @param config - The service config, as JSON text or parsed.
 * @param method - The full name of the method, as in the path: `shop.v1.Products/List`. Without it, the policy
 * for all methods.
 * @throws TypeError that names the place of the mistake in the config.
 *
 * @example
 * ```ts
 * import { policyFromServiceConfig } from 'steadfetch/grpc';
 *
 * const config = await (await fetch('/service-config.json')).text();
 * const policy = policyFromServiceConfig(config, 'shop.v1.Products/List');
 * ```
 */
export function policyFromServiceConfig(config: string | object, method?: string): PolicyOptions {
  const list = objectAt('', parse(config))['methodConfig'] ?? [];
  const [service = '', name = ''] = (method ?? '').replace(/^\//, '').split('/');
  const found = [`${service}/${name}`, `${service}/`, '/'];
  let best: (Place & { readonly rank: number }) | undefined;
  for (const [index, entry] of listAt('.methodConfig', list).entries()) {
    const path = `.methodConfig[${index}]`;
    const own = objectAt(path, entry);
    for (const [place, one] of listAt(`${path}.name`, own['name'] ?? []).entries()) {
      const said = objectAt(`${path}.name[${place}]`, one);
      const rank = found.indexOf([said['service'], said['method']].join('/'));
      if (rank >= 0 && rank < (best?.rank ?? found.length)) best = { path, own, rank };
    }
  }
  return best ? readRetryPolicy(best) : {};
}

interface Place {
  readonly path: string;
  readonly own: Json;
}

function readRetryPolicy({ path: above, own }: Place): PolicyOptions {
  if (own['retryPolicy'] === undefined) return {};
  const path = `${above}.retryPolicy`;
  const given = objectAt(path, own['retryPolicy']);
  const attempts = given['maxAttempts'];
  if (!Number.isInteger(attempts) || Number(attempts) < 2)
    wrong(`${path}.maxAttempts`, attempts, 'a whole number from 2');
  const factor = given['backoffMultiplier'];
  if (typeof factor !== 'number' || !(factor > 0 && factor < Infinity))
    return wrong(`${path}.backoffMultiplier`, factor, 'a number above 0');
  const maxMs = durationAt(`${path}.maxBackoff`, given['maxBackoff']);
  const initialMs = durationAt(`${path}.initialBackoff`, given['initialBackoff']);
  return {
    maxRetries: Math.min(mostAttempts, Number(attempts)) - 1,
    backoff: 'proportional',
    baseMs: Math.min(initialMs, maxMs),
    factor: Math.min(100, Math.max(1, factor)),
    // Proportional jitter exceeds the step by up to a quarter, and gRPC's cap applies to the step.
    capMs: Math.ceil(1.25 * maxMs),
    shouldRetry: retryOn(`${path}.retryableStatusCodes`, given['retryableStatusCodes']),
  };
}

function retryOn(path: string, given: unknown): ShouldRetry {
  const list = listAt(path, given);
  if (list.length === 0) return wrong(path, given, 'a list of status codes');
  const retryable = list.map((one: unknown, index): string => {
    const code = toCode(one);
    return code && code !== 'OK'
      ? code
      : wrong(`${path}[${index}]`, one, 'a status code of gRPC, such as UNAVAILABLE');
  });
  return (failure) => {
    // gRPC reports a failed connection as UNAVAILABLE.
    if (failure.kind === 'network') return retryable.includes('UNAVAILABLE') ? undefined : false;
    // gRPC has no code for the timeout of a single attempt, or for a broken body.
    if (failure.kind !== 'http') return undefined;
    return failure.shouldRetry !== false && retryable.includes(failure.code ?? byStatus(failure));
  };
}

/** The code that a proxy's answer counts as (grpc/doc/http-grpc-status-mapping.md). Others are not retryable. */
function byStatus({ status }: { readonly status: number }): string {
  if ([429, 502, 503, 504].includes(status)) return 'UNAVAILABLE';
  return status >= 500 ? 'UNKNOWN' : '';
}

function parse(config: string | object): unknown {
  if (typeof config !== 'string') return config;
  try {
    return JSON.parse(config);
  } catch {
    return wrong('', config, 'JSON');
  }
}

function objectAt(path: string, given: unknown): Json {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given);
  return isObject ? (given as Json) : wrong(path, given, 'an object');
}

const listAt = (path: string, given: unknown): readonly unknown[] =>
  Array.isArray(given) ? given : wrong(path, given, 'a list');

/** The JSON of google.protobuf.Duration. @returns milliseconds, at least one. */
function durationAt(path: string, given: unknown): number {
  const seconds = /^(\d*\.?\d+)s$/.exec(String(given))?.[1];
  const ms = Math.ceil(1000 * Number(seconds));
  if (typeof given !== 'string' || !(ms > 0 && ms < 2 ** 31 / 1.25))
    return wrong(path, given, `a duration above 0, such as '0.5s'`);
  return ms;
}

const wrong = (path: string, given: unknown, allowed: string): never =>
  rejectValue('policyFromServiceConfig', `config${path}`, given, allowed);
