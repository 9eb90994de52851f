import { inDevelopment } from '../lib/development.ts';
import { createSlot } from '../lib/slot.ts';
import { focusManager, type QueryClient } from '@tanstack/react-query';
import { isReachable } from '../connectivity/reach.ts';
import { defineApis } from '../fetch/api.ts';
import { Lines } from '../fetch/attempt/limits/line.ts';
import { WaitingWrites } from '../fetch/order/waiting-writes.ts';
import { createFetch } from '../fetch/send.ts';
import { Emitter } from '../operation/events.ts';
import { createJson } from '../fetch/json.ts';
import type { Operation } from '../operation/operation.ts';
import { Operations, type Signals } from '../operation/operations.ts';
import { WriteOrder } from '../operation/write-order.ts';
import { createAdmissions } from '../fetch/admit.ts';
import { admitInOrder } from '../fetch/order/admit-in-order.ts';
import { createSleepDetector } from '../lib/timer.ts';
import { forgetTab } from '../lib/browser/tab-names.ts';
import { systemTransport } from '../lib/clock.ts';
import { checkMade, codeOf } from '../lib/input/made-by.ts';
import { definePolicy } from '../policy/options.ts';
import { caller, checkConfig, type Given, readConfig } from './config.ts';
import { createBrowserNetwork } from './network.ts';
import { Lifecycle } from './query/lifecycle.ts';
import { createQueryRecords } from './query/records.ts';
import { FailureLedger } from './query/failure-ledger.ts';
import { isAnyLocal, isAnyPlain } from './mutation/lifecycle.ts';
import { watchResumed } from './mutation/resumed.ts';
import { createPersister } from './query/persister.ts';
import { type Instance, isServer, register, registerSteady } from './instance.ts';
import { createStrayWatch, markMade, unmarkMade } from './misuse.ts';
import { createRetryPair } from './query/retry-options.ts';
import type {
  MutationPolicyOptions,
  QueryBasics,
  QueryPolicyOptions,
  RetryPair,
  Steadfetch,
  SteadfetchConfig,
} from './steadfetch.ts';
import { createOverdueRetries } from './query/refetch.ts';
import type { ObserveCode } from './observe/observe.ts';

/** Whether the app is visible. In React Native, AppState sets React Query's `focusManager`. */
const isSeen = (): boolean =>
  globalThis.document ? document.visibilityState !== 'hidden' : focusManager.isFocused();

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
  inDevelopment(() => checkConfig(config));
  const { observe, ...others } = config;
  const observing = codeOf<ObserveCode>(checkMade(caller, 'observe', observe, 'observeOnly'));
  const steady = observing ? observing.observe(others, create) : create(others);
  inDevelopment(() => markMade(steady));
  return steady;
}

/** The parts that do not depend on the network. */
function createParts(given: Given) {
  const { clock, apis, policy } = given;
  const emitter = new Emitter();
  const environment = { ...given, emitter, ...defineApis(apis, policy) };
  const operations = new Operations(environment);
  const signals: Signals = createSlot();
  return {
    ...environment,
    operations,
    signals,
    ledger: new FailureLedger(clock),
    byQuery: createQueryRecords(),
    waitingWrites: new WaitingWrites(clock),
    sleepDetector: createSleepDetector(clock),
  };
}

type Parts = ReturnType<typeof createParts>;

/** The network: watched, or as the browser reports it. */
function openNetwork(parts: Parts, knownOrigins: () => readonly string[]) {
  const { watch, transport, sleepDetector } = parts;
  const browser = createBrowserNetwork(sleepDetector);
  const watched = watch?.open({ ...parts, knownOrigins });
  const { connectivity } = watched ?? {};
  return {
    network: connectivity?.network ?? browser.network,
    connectivity: connectivity ?? browser.connectivity,
    /** Undefined if it is not watched. */
    watched: connectivity,
    page: watched?.page,
    reachOf: (asked: string) => ({
      wasReached: (sinceMs: number) => !!watched?.wasReached(asked, sinceMs),
      check: () => isReachable(transport, asked),
    }),
    dispose() {
      watched?.dispose();
      browser.dispose();
    },
  };
}

/** Finds the operation of a request: by its signal, by the call on the stack, or by its failure before. */
function operationFinder({ operations, signals, ledger }: Parts, clients: () => readonly object[]) {
  const recordStray =
    process.env.NODE_ENV !== 'production' && !isServer()
      ? createStrayWatch(operations, () => clients().length > 0)
      : undefined;
  return (signal: AbortSignal | undefined, request: string): Operation => {
    const isIt = (one: Operation): boolean =>
      one.given.request === request && one.phase.kind === 'waiting' && !one.isLeft;
    const known = (signal && signals.get(signal)) ?? operations.current ?? ledger.resume(isIt);
    if (known) return known;
    const lone = operations.begin('call', { request });
    recordStray?.(request, lone);
    return lone;
  };
}

/** The parts of an instance, and how they are ended. */
function wire(given: Given) {
  const parts = createParts(given);
  const { clock, emitter, operations, ledger, waitingWrites, sleepDetector, watch } = parts;
  const lifecycle = new Lifecycle(parts);
  const clients = (): readonly QueryClient[] => lifecycle.clients();
  const network = openNetwork(parts, () => admissions.origins.known());
  const around = {
    ...parts,
    ...network,
    isOnServer: isServer(),
    isSeen,
    mayBeLocal: () => isAnyLocal(clients()),
    mayBePlain: () => isAnyPlain(clients()),
  };
  const admissions = createAdmissions(around);
  const { origins } = admissions;
  const writeOrder = new WriteOrder(clock, () => origins.openTabs()?.shareWrites);
  const unwatchResumed = isServer() ? undefined : watchResumed(clients, waitingWrites, emitter);
  const overdue = createOverdueRetries(clock, sleepDetector, clients, parts.byQuery.get, () =>
    origins.reconsider(),
  );
  const isOnServer = isServer() && given.transport === systemTransport;
  let lastRequest = 0;
  const context = {
    ...around,
    ...admissions,
    // An instance on a server may send writes of several users.
    ...(!isOnServer && { admit: admitInOrder({ ...parts, writeOrder }, admissions.admit) }),
    outlive: watch?.outlive,
    lifecycle,
    clients,
    overdue,
    // Node's fetch opens as many connections as it needs, so requests wait for no others.
    lines: isOnServer ? undefined : new Lines(),
    nextRequest: () => ++lastRequest,
    operationFor: operationFinder(parts, clients),
  };
  const endWaits = (): void => {
    for (const wait of operations.waits) wait.drop();
  };
  return {
    context,
    forget() {
      endWaits();
      origins.forget();
      writeOrder.forget();
      ledger.forget();
      network.watched?.forget();
    },
    dispose() {
      endWaits();
      network.dispose();
      origins.dispose();
      overdue.dispose();
      unwatchResumed?.();
      lifecycle.dispose();
    },
  };
}

/** The options of queries and of mutations, each marked as those of the instance. */
function createOptions(instance: Instance & Pick<ReturnType<typeof wire>, 'context'>) {
  const { context, policy } = instance;
  return {
    queryOptions: ({ fallback, ...own }: QueryPolicyOptions = {}): RetryPair & QueryBasics => {
      const name = 'steady.queryPolicy';
      const pair = createRetryPair(context, 'query', own);
      const marked = register(
        { ...pair, persister: createPersister(context) },
        {
          ...instance,
          policy: definePolicy(name, policy, own),
          own,
          fallback: checkMade(name, 'fallback', fallback, 'fallback'),
        },
      );
      return { ...marked, networkMode: 'online' };
    },
    mutationOptions: (own?: MutationPolicyOptions): RetryPair =>
      register(createRetryPair(context, 'mutation', own), {
        ...instance,
        policy: definePolicy('steady.mutationPolicy', policy, own),
        own,
      }),
  };
}

function create(config: SteadfetchConfig): Steadfetch {
  const wired = wire(readConfig(config));
  const { context } = wired;
  const { policy, emitter, lifecycle, operations, ledger } = context;
  const { fetch, rawFetch } = createFetch(context);
  const instance = {
    ...context,
    context,
    fetch,
    rawFetch,
    connectivity: context.watched,
    persist: createPersister.bind(undefined, context),
    own: undefined,
    cleared: new Set<() => Promise<void>>(),
    forget: () => wired.forget(),
  };

  const { queryOptions, mutationOptions } = createOptions(instance);
  const meetClient = (_: unknown, { client }: { readonly client: QueryClient }): void =>
    lifecycle.meet(client);

  const steady: Steadfetch = {
    fetch,
    rawFetch,
    json: createJson(fetch),
    defaultOptions: {
      queries: queryOptions(),
      // Otherwise a client without queries would not be known.
      mutations: Object.assign(mutationOptions(), { onMutate: meetClient }),
    },
    // The same functions under a simpler type: see SpreadRetryPair.
    queryPolicy: queryOptions as unknown as Steadfetch['queryPolicy'],
    mutationPolicy: mutationOptions as unknown as Steadfetch['mutationPolicy'],
    policy,
    subscribe: (listener) => emitter.subscribe(listener),
    async endSession() {
      const clearing = Promise.allSettled([...instance.cleared].map((clear) => clear()));
      lifecycle.endSession();
      operations.endSession();
      ledger.forget();
      forgetTab();
      for (const one of await clearing) if (one.status === 'rejected') throw one.reason;
    },
    dispose() {
      inDevelopment(() => unmarkMade(steady));
      wired.dispose();
    },
  };
  registerSteady(steady, instance);
  return steady;
}
