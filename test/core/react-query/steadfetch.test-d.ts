import { QueryClient } from '@tanstack/react-query';
import {
  createSteadfetch,
  isHttpError,
  type Steadfetch,
  type SteadfetchEvent,
  retry,
  defineIdempotency,
  watchConnectivity,
} from 'steadfetch';
import {
  type AnyPauseReason,
  useCountdown,
  useRetryStatus,
  useMutationStatus,
} from 'steadfetch/react';
import { expectTypeOf } from 'vitest';

const steady = createSteadfetch();

/** json<T> is what the caller says, and unknown when nobody has said. */
export function json() {
  expectTypeOf(steady.json('/a')).toEqualTypeOf<Promise<unknown>>();
  expectTypeOf(steady.json<string>('/a')).toEqualTypeOf<Promise<string>>();
  expectTypeOf(steady.fetch('/a')).toEqualTypeOf<Promise<Response>>();
  expectTypeOf(retry(steady, () => 1)).toEqualTypeOf<Promise<number>>();
  expectTypeOf(retry(steady, async ({ attempt }) => attempt)).toEqualTypeOf<Promise<number>>();
  const promised: Promise<number> = steady.json<number>('/a', { json: { a: 1 }, timeout: 500 });
  // steady.fetch goes wherever a fetch goes.
  const fetchLike: typeof fetch = steady.fetch;
  return [promised, fetchLike];
}

/** A query and a mutation can be acted on. */
export function Status({ date }: { readonly date: Date }) {
  const query = useRetryStatus({ queryKey: ['a'] });
  expectTypeOf(query.retryNow).toEqualTypeOf<() => void>();
  expectTypeOf(query.cancel).toEqualTypeOf<() => void>();
  expectTypeOf(query.status).toEqualTypeOf<
    'idle' | 'sending' | 'waiting' | 'paused' | 'succeeded' | 'failed' | 'unknown'
  >();
  expectTypeOf(query.attempt).toEqualTypeOf<number>();
  expectTypeOf(query.maxAttempts).toEqualTypeOf<number>();
  expectTypeOf(query.retryAt).toEqualTypeOf<number | undefined>();
  expectTypeOf(query.lastError).toEqualTypeOf<unknown>();
  expectTypeOf<AnyPauseReason>().toExtend<typeof query.reason>();

  const mutation = useMutationStatus({ mutationKey: ['a'] });
  expectTypeOf(mutation.status).toEqualTypeOf(query.status);
  expectTypeOf(mutation.retryNow).toEqualTypeOf<() => void>();
  expectTypeOf(mutation.cancel).toEqualTypeOf<() => void>();
  // @ts-expect-error -- a target is needed
  useRetryStatus();
  // @ts-expect-error -- a target has a key
  useRetryStatus({});
  // @ts-expect-error -- one target, not two
  useRetryStatus({ queryKey: ['a'], mutationKey: ['a'] });
  // @ts-expect-error -- a key is an array
  useRetryStatus({ queryKey: 'a' });

  expectTypeOf(useCountdown(undefined)).toEqualTypeOf<number | undefined>();
  // @ts-expect-error -- epoch milliseconds, not a Date
  useCountdown(date);
}

/** Wrong options are errors where they are written. */
export function options() {
  // @ts-expect-error -- `retries` is the name in other libraries
  steady.queryPolicy({ retries: 3 });
  // @ts-expect-error -- a number of milliseconds, not a string
  steady.queryPolicy({ baseMs: '1s' });
  // @ts-expect-error -- no such jitter
  steady.queryPolicy({ backoff: 'exponential' });
  // @ts-expect-error -- no such preset
  steady.mutationPolicy({ preset: 'fast' });
  // @ts-expect-error -- nothing tells which mutation a request is part of: steady.fetch takes it
  steady.mutationPolicy({ timeout: 500 });
  // @ts-expect-error -- both limits of a stream are needed
  steady.queryPolicy({ timeout: { headersMs: 500 } });
  // @ts-expect-error -- shouldRetry is synchronous
  createSteadfetch({ policy: { shouldRetry: async () => true } });
  // @ts-expect-error -- true, false or undefined
  createSteadfetch({ policy: { shouldRetry: () => 1 } });
  // @ts-expect-error -- a policy is below `policy`
  createSteadfetch({ maxRetries: 3 });
  // @ts-expect-error -- a profile says which requests it is about
  createSteadfetch({ apis: [{ idempotent: true }] });
  // @ts-expect-error -- how the header is called is not to be guessed
  createSteadfetch({ apis: [{ match: '/a', idempotency: defineIdempotency({}) }] });
  // @ts-expect-error -- required in type 'MadeBy<"defineIdempotency">': that brings the code of keys
  createSteadfetch({ apis: [{ match: '/a', idempotency: { header: 'Idempotency-Key' } }] });
  // @ts-expect-error -- required in type 'MadeBy<"watchConnectivity">'
  createSteadfetch({ connectivity: { check: '/ping' } });
  // @ts-expect-error -- required in type 'MadeBy<"shareAcrossTabs">'
  createSteadfetch({ tabs: true });
  // @ts-expect-error -- required in type 'MadeBy<"rateLimitFields">'
  createSteadfetch({ rateLimit: {} });
  // @ts-expect-error -- required in type 'MadeBy<"limitConcurrency">'
  createSteadfetch({ concurrency: { maxInFlight: 8 } });
  // @ts-expect-error -- made by another function
  createSteadfetch({ tabs: watchConnectivity() });
  // @ts-expect-error -- required in type 'MadeBy<"fallback">'
  steady.queryPolicy({ fallback: [] });
  // @ts-expect-error -- the signal of a query is React Query's
  steady.queryPolicy({ signal: new AbortController().signal });
  // Undefined means the default.
  steady.queryPolicy({ maxRetries: undefined, preset: undefined });
}

/** The options are React Query's, and fit wherever it takes them. */
export function clients() {
  const { queries, mutations } = steady.defaultOptions;
  const [client] = [
    new QueryClient({ defaultOptions: steady.defaultOptions }),
    new QueryClient({ defaultOptions: { queries: { ...queries, staleTime: 5 }, mutations } }),
    new QueryClient({ defaultOptions: { queries } }),
  ] as const;
  client.setQueryDefaults(['a'], steady.queryPolicy({ maxRetries: 1 }));
  client.setMutationDefaults(['a'], steady.mutationPolicy({ maxRetries: 1 }));
  expectTypeOf(queries.retry(0, new Error('a'))).toEqualTypeOf<boolean>();
  expectTypeOf(queries.retryDelay(0, new Error('a'))).toEqualTypeOf<number>();
  expectTypeOf(steady).toEqualTypeOf<Steadfetch>();
}

/** The guards and the events narrow. */
export function narrowing(error: unknown, event: SteadfetchEvent) {
  if (isHttpError(error)) {
    expectTypeOf(error.status).toEqualTypeOf<number>();
    expectTypeOf(error.response).toEqualTypeOf<Response>();
  }
  if (event.type === 'decision' && event.decision.kind === 'retry') {
    expectTypeOf(event.decision.delayMs).toEqualTypeOf<number>();
  }
  if (event.type === 'operation:end') {
    expectTypeOf(event.result).toEqualTypeOf<'succeeded' | 'failed' | 'cancelled' | 'superseded'>();
  }
}
