import { createEmitter } from '../fetch/events.ts';
import { createJson } from '../fetch/json.ts';
import { createKeys } from '../fetch/keys.ts';
import { createPassage } from '../fetch/passage.ts';
import { createRetry } from '../fetch/retry.ts';
import { createCore } from './create-core.ts';
import { createMutationOptions } from './mutation-options.ts';
import type { Steadfetch, SteadfetchConfig } from './steadfetch.ts';

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
  const emitter = createEmitter();
  const { context, ...core } = createCore(
    config,
    emitter,
    (shared) => createPassage(shared, config.origin),
    (shared) => createKeys(shared, config.apis),
  );
  return {
    ...core,
    json: createJson(core.fetch),
    retry: createRetry(context),
    mutationOptions: createMutationOptions(context, core.fetch),
    subscribe: emitter.subscribe,
  };
}
