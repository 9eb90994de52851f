import {
  type ConcurrencyOptions,
  createSteadfetch,
  limitConcurrency,
  rateLimitFields,
  retry,
  shareAcrossTabs,
  type Steadfetch,
  type SteadfetchConfig,
  watchConnectivity,
} from '../../src/index.ts';
import type { OpenTab, TabContext } from './policy.ts';

/** What the command line can say: JSON has no values that bring code. */
interface PlainConfig extends Pick<SteadfetchConfig, 'policy' | 'health'> {
  readonly concurrency?: ConcurrencyOptions;
}

/** Steadfetch with all that guards a server, by its defaults but for the time limit of an attempt. */
export function createSteady(context: TabContext): Steadfetch {
  const { clock, random, fetch, timeoutMs, share, isBackground, config } = context;
  const { policy, concurrency, ...rest }: PlainConfig = config;
  return createSteadfetch({
    ...rest,
    clock,
    random,
    fetch,
    policy: { timeout: timeoutMs, ...(isBackground && { preset: 'background' }), ...policy },
    connectivity: watchConnectivity(),
    rateLimit: rateLimitFields(),
    tabs: share && shareAcrossTabs(share),
    concurrency: concurrency && limitConcurrency(concurrency),
  });
}

/** Steadfetch itself, as a loader calls it. */
export const steadfetch: OpenTab = (context) => {
  const steady = createSteady(context);
  return (url) => retry(steady, ({ signal }) => steady.fetch(url, { signal }));
};
