import type { Query } from '@tanstack/react-query';
import { type ApiProfile, defineApis } from '../fetch/api-profile.ts';
import { createFetch, type SteadyFetch } from '../fetch/create-fetch.ts';
import { createEmitter, type Listener } from '../fetch/events.ts';
import { createJson, type SteadyJson } from '../fetch/json.ts';
import type { LiveOperation } from '../fetch/live-operation.ts';
import { createOperations } from '../fetch/operations.ts';
import { createRetry, type SteadyRetry } from '../fetch/retry.ts';
import { createSignals } from '../fetch/signals.ts';
import {
  type Clock,
  type Random,
  systemClock,
  systemRandom,
  systemTransport,
  type Transport,
} from '../policy/clock.ts';
import { type Policy, type PolicyOptions, presets } from '../policy/options.ts';
import { definePolicy } from '../policy/validate.ts';
import { createFailureLedger } from './failure-ledger.ts';
import { type AnyPersister, createPersister, type SteadyPersister } from './persister.ts';
import { register } from './registry.ts';
import { createRetryPair, type RetryPair, type SpreadRetryPair } from './retry-pair.ts';

/** What a Steadfetch instance is made of. */
export interface SteadfetchConfig {
  /** How failures are answered, everywhere. @default presets.interactive */
  readonly policy?: PolicyOptions | undefined;
  /** What is known of single APIs. @default [] */
  readonly apis?: readonly ApiProfile[] | undefined;
  /** What sends the requests. @default the fetch of this environment, looked up at every request */
  readonly fetch?: Transport | undefined;
  /** @default the clock of this environment */
  readonly clock?: Clock | undefined;
  /** @default Math.random */
  readonly random?: Random | undefined;
}

/** Options to spread into a query. */
export interface QueryPolicy extends SpreadRetryPair, QueryBasics {}

/** What both the default options and a policy of one query have beside the two functions. */
interface QueryBasics {
  readonly persister: SteadyPersister;
  /** A persister silently turns this into 'offlineFirst': so it says what it was. */
  readonly networkMode: 'online';
}

/**
 * A policy for a plain mutation. The time limit is not part of it: React Query does not say which
 * mutation a request belongs to, so give `timeout` to `steady.fetch`.
 */
export type MutationPolicyOptions = Omit<PolicyOptions, 'timeout'>;

/** A Steadfetch instance: usually one per app. */
export interface Steadfetch {
  readonly fetch: SteadyFetch;
  readonly json: SteadyJson;
  readonly retry: SteadyRetry;
  /** For `new QueryClient({ defaultOptions })`. */
  readonly defaultOptions: {
    readonly queries: RetryPair & QueryBasics;
    readonly mutations: RetryPair;
  };
  /**
   * A policy for one query, laid over the instance's: spread it into the query's options.
   *
   * @example
   * ```ts
   * useQuery({ queryKey, queryFn, ...steady.queryPolicy({ preset: 'background' }) });
   * ```
   *
   * @throws TypeError when an option is not as it must be.
   */
  readonly queryPolicy: (policy: PolicyOptions) => QueryPolicy;
  /**
   * A policy for one plain mutation: spread it into the mutation's options.
   *
   * @throws TypeError when an option is not as it must be.
   */
  readonly mutationPolicy: (policy: MutationPolicyOptions) => SpreadRetryPair;
  /**
   * Puts a persister of the app's own inside ours, which it would otherwise replace.
   *
   * @example
   * ```ts
   * const persister = steady.persister((queryFn, context) => queryFn(context));
   * ```
   */
  readonly persister: (persister: AnyPersister) => SteadyPersister;
  /** Tells of every event, synchronously, until the returned function is called. */
  readonly subscribe: (listener: Listener) => () => void;
  /** The policy that everything starts from. */
  readonly policy: Policy;
}

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
  const { clock = systemClock, random = systemRandom, apis = [] } = config;
  const policy = definePolicy('createSteadfetch', presets.interactive, config.policy);
  const emitter = createEmitter();
  const environment = { clock, random, policy, emitter };
  const operations = createOperations(environment);
  const signals = createSignals();
  const ledger = createFailureLedger(clock, operations);
  const context = {
    ...environment,
    operations,
    signals,
    ledger,
    byQuery: new WeakMap<Query, LiveOperation>(),
    transport: config.fetch ?? systemTransport,
    findApi: defineApis(apis, policy),
    checkCall: (own: PolicyOptions) => void definePolicy('steady.fetch', policy, own),
    operationFor: (signal: AbortSignal | undefined, request: string): LiveOperation =>
      signals.find(signal) ??
      operations.current() ??
      ledger.resume({ request }) ??
      operations.begin('call', { request, isSingle: true }),
  };

  const retryPair = (kind: 'query' | 'mutation', own: PolicyOptions | undefined): RetryPair =>
    register(createRetryPair(context, kind, own), {
      ...context,
      policy: definePolicy(`steady.${kind}Policy`, policy, own),
      own,
    });
  const queryOptions = (own?: PolicyOptions): RetryPair & QueryBasics => ({
    ...retryPair('query', own),
    persister: createPersister(context),
    networkMode: 'online',
  });
  const mutationOptions = (own?: MutationPolicyOptions): RetryPair => retryPair('mutation', own);
  const steadyFetch = createFetch(context);

  return {
    fetch: steadyFetch,
    json: createJson(steadyFetch),
    retry: createRetry(context),
    defaultOptions: { queries: queryOptions(), mutations: mutationOptions() },
    // The same functions under a simpler type: see SpreadRetryPair.
    queryPolicy: queryOptions as unknown as Steadfetch['queryPolicy'],
    mutationPolicy: mutationOptions as unknown as Steadfetch['mutationPolicy'],
    persister: (inner) => createPersister(context, inner),
    subscribe: emitter.subscribe,
    policy,
  };
}
