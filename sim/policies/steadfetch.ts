import {
  createSteadfetch,
  retry,
  type Steadfetch,
  type SteadfetchConfig,
} from '../../src/index.ts';
import type { OpenTab, TabContext } from './policy.ts';

/** Steadfetch with its defaults, but for the time limit of an attempt. */
export function createSteady(context: TabContext): Steadfetch {
  const { clock, random, fetch, timeoutMs, share, isBackground, config } = context;
  const { policy, origin, ...rest } = config as SteadfetchConfig;
  return createSteadfetch({
    ...rest,
    clock,
    random,
    fetch,
    policy: { timeout: timeoutMs, ...(isBackground && { priority: 'background' }), ...policy },
    origin: { share: share ?? false, ...origin },
  });
}

/** Steadfetch itself, as a loader calls it. */
export const steadfetch: OpenTab = (context) => {
  const steady = createSteady(context);
  return (url) => retry(steady, ({ signal }) => steady.fetch(url, { signal }));
};
