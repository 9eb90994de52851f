import type { Query } from '@tanstack/react-query';
import { defineApis } from '../fetch/api-profile.ts';
import { createFetch } from '../fetch/create-fetch.ts';
import type { Emitter } from '../fetch/events.ts';
import type { Keys, KeysContext } from '../fetch/keys.ts';
import type { LiveOperation, Signals } from '../fetch/live-operation.ts';
import type { LoopContext } from '../fetch/loop.ts';
import { createOperations } from '../fetch/operations.ts';
import type { Passage, PassageContext } from '../fetch/passage.ts';
import { type Clock, systemClock, systemRandom, systemTransport } from '../policy/clock.ts';
import { type PolicyOptions, presets } from '../policy/options.ts';
import { definePolicy } from '../policy/validate.ts';
import { type Ends, endWithQuery } from './end-with-query.ts';
import { createFailureLedger } from './failure-ledger.ts';
import { createPersister } from './persister.ts';
import { register } from './registry.ts';
import { createRetryPair, type RetryPair } from './retry-pair.ts';
import type { Wake } from './wake.ts';
import type {
  MutationPolicyOptions,
  QueryBasics,
  QueryPolicyOptions,
  Steadfetch,
  SteadfetchConfig,
} from './steadfetch.ts';

/** The fetch, the policy and React Query's options: the part of an instance that every app runs. */
export type Core = Omit<
  Steadfetch,
  'json' | 'retry' | 'subscribe' | 'mutationOptions' | 'dispose'
> & {
  /** What the rest of the instance stands on. */
  readonly context: LoopContext &
    Pick<Passage, 'origins'> & { readonly wake: Wake; readonly ends: Ends };
};

/**
 * `openPassage` makes the way out, past the gates of the origins, and `openKeys` what gives requests
 * their idempotency keys. `openWake` makes what knows when React Query lets go what it has paused.
 *
 * @throws TypeError when an option is not as it must be.
 */
export function createCore(
  config: SteadfetchConfig & { readonly wall?: Clock },
  emitter: Emitter,
  openPassage: (context: PassageContext) => Passage,
  openKeys: (context: KeysContext) => Keys,
  openWake: (byQuery: WeakMap<Query, LiveOperation>) => Wake,
): Core {
  const { clock = systemClock, wall = clock, random = systemRandom, apis = [] } = config;
  const policy = definePolicy('createSteadfetch', presets.interactive, config.policy);
  const environment = { clock, random, policy, emitter };
  const operations = createOperations(environment);
  const signals: Signals = new WeakMap();
  const ledger = createFailureLedger(clock, operations);
  const byQuery = new WeakMap<Query, LiveOperation>();
  const wake = openWake(byQuery);
  const ends = endWithQuery(byQuery, operations);
  const context = {
    ...environment,
    wall,
    operations,
    signals,
    ledger,
    ...openPassage({ clock, random, operations }),
    keys: openKeys({ clock, operations }),
    ends,
    wake,
    byQuery,
    transport: config.fetch ?? systemTransport,
    findApi: defineApis(apis, policy),
    operationFor: (signal: AbortSignal | undefined, request: string): LiveOperation =>
      (signal && signals.get(signal)) ??
      operations.current() ??
      ledger.resume({ request }) ??
      operations.begin('call', { request, isSingle: true }),
  };

  const retryPair = (
    kind: 'query' | 'mutation',
    own: PolicyOptions | undefined,
    fallback?: unknown,
  ): RetryPair =>
    register(createRetryPair(context, kind, own), {
      ...context,
      policy: definePolicy(`steady.${kind}Policy`, policy, own),
      own,
      fallback,
    });
  const queryOptions = ({ fallback, ...own }: QueryPolicyOptions = {}): RetryPair &
    QueryBasics => ({
    ...retryPair('query', own, fallback),
    persister: createPersister(context),
    networkMode: 'online',
  });
  const mutationOptions = (own?: MutationPolicyOptions): RetryPair => retryPair('mutation', own);

  return {
    context,
    fetch: createFetch(context),
    defaultOptions: { queries: queryOptions(), mutations: mutationOptions() },
    // The same functions under a simpler type: see SpreadRetryPair.
    queryPolicy: queryOptions as unknown as Steadfetch['queryPolicy'],
    mutationPolicy: mutationOptions as unknown as Steadfetch['mutationPolicy'],
    persister: (inner) => ({
      persister: createPersister(context, inner),
      networkMode: 'offlineFirst',
    }),
    policy,
  };
}
