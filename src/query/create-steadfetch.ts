import type { Query } from '@tanstack/react-query';
import { createConnectivity } from '../connectivity/create-connectivity.ts';
import { browserHint } from '../connectivity/hint.ts';
import { watchPageLife } from '../connectivity/page-life.ts';
import { checkConnectivity, sendProbe } from '../connectivity/probe.ts';
import { defineApis } from '../fetch/api-profile.ts';
import { createFetch } from '../fetch/create-fetch.ts';
import { createEmitter } from '../fetch/events.ts';
import { createJson } from '../fetch/json.ts';
import type { LiveOperation, Signals } from '../fetch/live-operation.ts';
import { createOperations } from '../fetch/operations.ts';
import { createPassage } from '../fetch/passage.ts';
import { createSteadyClock } from '../lib/steady-clock.ts';
import { systemClock, systemRandom, systemTransport } from '../policy/clock.ts';
import { type PolicyOptions, presets } from '../policy/options.ts';
import { definePolicy } from '../policy/validate.ts';
import { endWithQuery } from './end-with-query.ts';
import { createFailureLedger } from './failure-ledger.ts';
import { feedOnlineManager } from './feed-online.ts';
import { createPersister } from './persister.ts';
import { register, registerSteady } from './registry.ts';
import { createRetryPair, type RetryPair } from './retry-pair.ts';
import type {
  MutationPolicyOptions,
  QueryBasics,
  QueryPolicyOptions,
  Steadfetch,
  SteadfetchConfig,
} from './steadfetch.ts';
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
  const { clock: wall = systemClock, random = systemRandom, apis = [] } = config;
  const { fetch: transport = systemTransport } = config;
  // Durations are measured with it: a wall clock that is set makes nobody wait for longer.
  const clock = createSteadyClock(wall);
  const { probe } = checkConnectivity('createSteadfetch: connectivity', config.connectivity);
  const policy = definePolicy('createSteadfetch', presets.interactive, config.policy);
  const emitter = createEmitter();
  const environment = { clock, random, policy, emitter };
  const operations = createOperations(environment);
  const signals: Signals = new WeakMap();
  const ledger = createFailureLedger(clock, operations);
  const byQuery = new WeakMap<Query, LiveOperation>();

  const hint = browserHint();
  const page = watchPageLife(clock, random);
  const connectivity = createConnectivity(
    clock,
    random,
    hint,
    hint && probe ? (signal) => sendProbe(clock, transport, probe, signal) : undefined,
    (origin, signal) => sendProbe(clock, transport, { url: `${origin}/` }, signal),
    () => passage.origins.known(),
  );
  const giveBack = hint && feedOnlineManager(connectivity, hint);
  const passage = createPassage({ clock, random, operations }, config.origin, {
    connectivity,
    page,
  });
  const wake = createWake(
    clock,
    connectivity.network.heart,
    (query) => byQuery.get(query),
    () => passage.origins.reconsider(),
  );
  const ends = endWithQuery(byQuery, operations);
  const context = {
    ...environment,
    ...passage,
    wall,
    operations,
    signals,
    ledger,
    ends,
    wake,
    byQuery,
    transport,
    findApi: defineApis(apis, policy),
    operationFor: (signal: AbortSignal | undefined, request: string): LiveOperation =>
      (signal && signals.get(signal)) ??
      operations.current() ??
      ledger.resume({ request }) ??
      operations.begin('call', { request, isSingle: true }),
  };
  const fetch = createFetch(context);
  const instance = {
    ...context,
    fetch,
    persist: createPersister.bind(undefined, context),
    own: undefined,
  };

  const retryPair = (
    kind: 'query' | 'mutation',
    own: PolicyOptions | undefined,
    fallback?: unknown,
  ): RetryPair =>
    register(createRetryPair(context, kind, own), {
      ...instance,
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

  const steady: Steadfetch = {
    fetch,
    json: createJson(fetch),
    defaultOptions: { queries: queryOptions(), mutations: mutationOptions() },
    // The same functions under a simpler type: see SpreadRetryPair.
    queryPolicy: queryOptions as unknown as Steadfetch['queryPolicy'],
    mutationPolicy: mutationOptions as unknown as Steadfetch['mutationPolicy'],
    policy,
    subscribe: emitter.subscribe,
    dispose() {
      giveBack?.();
      page?.dispose();
      connectivity.dispose();
      passage.origins.dispose();
      wake.dispose();
      ends.dispose();
    },
  };
  registerSteady(steady, instance);
  return steady;
}
