import { createConnectivity } from '../connectivity/create-connectivity.ts';
import { browserHint } from '../connectivity/hint.ts';
import { watchPageLife } from '../connectivity/page-life.ts';
import { checkConnectivity, sendProbe } from '../connectivity/probe.ts';
import { createEmitter } from '../fetch/events.ts';
import { createJson } from '../fetch/json.ts';
import { createKeys } from '../fetch/keys.ts';
import { createPassage } from '../fetch/passage.ts';
import { createRetry } from '../fetch/retry.ts';
import { createSteadyClock } from '../lib/steady-clock.ts';
import { systemClock, systemRandom, systemTransport } from '../policy/clock.ts';
import { createCore } from './create-core.ts';
import { createMutationOptions } from './mutation-options.ts';
import { feedOnlineManager } from './feed-online.ts';
import type { Steadfetch, SteadfetchConfig } from './steadfetch.ts';
import { createWake } from './wake.ts';

/**
 * Makes a Steadfetch instance.
 *
 * @throws TypeError when an option is not as it must be; it names the option, the value and the
 * allowed range.
 *
 * @example
 * ```ts
 * const steady = createSteadfetch();
 * const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
 * ```
 */
export function createSteadfetch(config: SteadfetchConfig = {}): Steadfetch {
  const {
    clock: wall = systemClock,
    random = systemRandom,
    fetch: sent = systemTransport,
  } = config;
  // Durations are measured with it: a wall clock that is set makes nobody wait for longer.
  const clock = createSteadyClock(wall);
  const { probe } = checkConnectivity('createSteadfetch: connectivity', config.connectivity);
  const hint = browserHint();
  const life = watchPageLife(clock, random);
  const connectivity = createConnectivity(
    clock,
    random,
    hint,
    hint && probe ? (signal) => sendProbe(clock, sent, probe, signal) : undefined,
    (origin, signal) => sendProbe(clock, sent, { url: `${origin}/` }, signal),
    () => context.origins.known(),
  );
  const giveBack = hint && feedOnlineManager(connectivity, hint);
  const emitter = createEmitter();
  const { context, ...core } = createCore(
    { ...config, clock, wall },
    emitter,
    (shared) => createPassage(shared, config.origin, { connectivity, page: life }),
    (shared) => createKeys(shared, config.apis),
    (byQuery) =>
      createWake(
        clock,
        connectivity.network.heart,
        (query) => byQuery.get(query),
        () => context.origins.reconsider(),
      ),
  );
  return {
    ...core,
    dispose() {
      giveBack?.();
      life?.dispose();
      connectivity.dispose();
      context.origins.dispose();
      context.wake.dispose();
      context.ends.dispose();
    },
    json: createJson(core.fetch),
    retry: createRetry(context),
    mutationOptions: createMutationOptions(context, core.fetch),
    subscribe: emitter.subscribe,
  };
}
