import {
  type ConcurrencyOptions,
  createSteadfetch,
  limitConcurrency,
  rateLimitFields,
  retry,
  shareAcrossTabs,
  type Steadfetch,
  type SteadfetchConfig,
  type SteadyInit,
  watchConnectivity,
} from '../../src/index.ts';
import { createLatencyLimit, type LatencyLimitOptions } from '../latency-limit/latency-limit.ts';
import type { OpenTab, TabContext } from './policy.ts';

/** What the command line can say: JSON has no values that bring code. */
interface PlainConfig extends Pick<SteadfetchConfig, 'policy' | 'health'> {
  readonly concurrency?: ConcurrencyOptions;
  /** An experiment: the limit of a read by the latency of its endpoint. */
  readonly latencyLimit?: LatencyLimitOptions;
}

/** The instance of a tab, and what each of its reads is sent with. */
interface SteadyTab {
  readonly steady: Steadfetch;
  readonly initOf: (url: string, signal: AbortSignal, attempt: number) => SteadyInit;
}

/** Steadfetch with all that guards a server, by its defaults but for the time limit of an attempt. */
export function createSteady(context: TabContext): SteadyTab {
  const { clock, random, fetch, timeoutMs, share, isBackground, config } = context;
  const { policy, concurrency, latencyLimit, ...rest }: PlainConfig = config;
  const limit = latencyLimit && createLatencyLimit(clock, fetch, timeoutMs, latencyLimit);
  const steady = createSteadfetch({
    ...rest,
    clock,
    random,
    fetch: limit?.fetch ?? fetch,
    policy: { timeout: timeoutMs, ...(isBackground && { preset: 'background' }), ...policy },
    connectivity: watchConnectivity(),
    rateLimit: rateLimitFields(),
    tabs: share && shareAcrossTabs(share),
    concurrency: concurrency && limitConcurrency(concurrency),
  });
  return {
    steady,
    initOf(url, signal, attempt) {
      const timeout = limit?.timeoutOf(url, attempt);
      return timeout === undefined ? { signal } : { signal, timeout };
    },
  };
}

/** Steadfetch itself, as a loader calls it. */
export const steadfetch: OpenTab = (context) => {
  const { steady, initOf } = createSteady(context);
  return (url) =>
    retry(steady, ({ signal, attempt }) => steady.fetch(url, initOf(url, signal, attempt)));
};
