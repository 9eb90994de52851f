import { inDevelopment } from '../lib/development.ts';
import { QueryClient } from '@tanstack/react-query';
import {
  createSteadyClock,
  type Clock,
  type Random,
  systemClock,
  systemRandom,
  systemTransport,
  type Transport,
} from '../lib/clock.ts';
import { callApp, reporterOf } from '../lib/input/callback.ts';
import { checkNames, checkValue, isFunction, isShare } from '../lib/input/check.ts';
import { checkMade, codeOf, type MadeBy } from '../lib/input/made-by.ts';
import type { ApiProfile } from '../fetch/api.ts';
import { checkOrigin, type OriginOptions } from '../origin/origin.ts';
import { definePolicy, inPolicy, type Policy, presets } from '../policy/options.ts';
import type { ConnectivityCode } from './network.ts';
import type { SteadfetchConfig } from './steadfetch.ts';

export const caller = 'createSteadfetch';

const names: readonly (keyof SteadfetchConfig)[] = [
  'policy',
  'apis',
  'health',
  'connectivity',
  'tabs',
  'rateLimit',
  'concurrency',
  'fetch',
  'clock',
  'random',
  'observe',
];

/** Options that belong into a profile of an API, for the error about one in the wrong place. */
const inApis = {
  match: 'apis: [{ match }]',
  idempotency: 'apis: [{ match, idempotency }]',
  idempotent: 'apis: [{ match, idempotent }]',
  partition: 'apis: [{ match, partition }]',
  auth: 'apis: [{ match, auth }]',
  outcomes: 'apis: [{ match, outcomes }]',
  classifyResponse: 'apis: [{ match, outcomes: classifyOutcomes({ classifyResponse }) }]',
  classifyError: 'apis: [{ match, outcomes: classifyOutcomes({ classifyError }) }]',
} as const;

/** The kinds of value that these options take. */
const allowed = {
  random: 'a function',
  fetch: 'a function',
  apis: "a list of profiles, as [{ match: '/api' }]",
  clock: 'an object with now, setTimeout, clearTimeout',
} as const;

const isClock = (value: unknown): boolean => {
  const { now, setTimeout, clearTimeout } = Object(value) as Record<string, unknown>;
  return [now, setTimeout, clearTimeout].every(isFunction);
};

/** Checks each draw of the app's own `random`. Without a number, a wait would be zero or endless. */
const guardRandom = (own: Random): Random => {
  const rule = inDevelopment(() => 'Math.random is asked');
  const onMistake = reporterOf(own, 'random', rule);
  return () => callApp(own, isShare, onMistake) ?? systemRandom();
};

/** For development. @throws TypeError when the options are none, or one of them has another name. */
export function checkConfig(config: SteadfetchConfig): void {
  // A QueryClient has no own members that `checkNames` could find.
  if (config instanceof QueryClient)
    throw new TypeError(
      `${caller}: its argument is a QueryClient, and must be an object of options. It is the other ` +
        `way round: new QueryClient({ defaultOptions: steady.defaultOptions }).`,
    );
  checkNames(caller, config, names, { ...inPolicy(true), ...inApis });
}

/** The options of an instance, checked and with their defaults. */
export interface Given {
  readonly origin: OriginOptions;
  readonly watch: ConnectivityCode | undefined;
  readonly rateLimit: MadeBy<'rateLimitFields'> | undefined;
  readonly random: Random;
  readonly transport: Transport;
  readonly apis: readonly ApiProfile[];
  readonly wall: Clock;
  /** Measures durations, so that a wall clock that is set back prolongs no wait. */
  readonly clock: ReturnType<typeof createSteadyClock>;
  readonly policy: Policy;
}

/** @throws TypeError when an option is not as it must be. */
export function readConfig(config: SteadfetchConfig): Given {
  const given = <Name extends keyof typeof allowed>(
    name: Name,
    isRight: (value: unknown) => boolean,
  ): SteadfetchConfig[Name] =>
    checkValue(
      caller,
      name,
      config[name],
      isRight,
      inDevelopment(() => allowed[name]),
    );
  const origin = checkOrigin(caller, config);
  const { connectivity } = config;
  const watching = checkMade(caller, 'connectivity', connectivity, 'watchConnectivity');
  const rateLimit = checkMade(caller, 'rateLimit', config.rateLimit, 'rateLimitFields');
  const random = given('random', isFunction);
  const wall = given('clock', isClock) ?? systemClock;
  return {
    origin,
    watch: codeOf<ConnectivityCode>(watching),
    rateLimit,
    random: random ? guardRandom(random) : systemRandom,
    transport: given('fetch', isFunction) ?? systemTransport,
    apis: given('apis', Array.isArray) ?? [],
    wall,
    clock: createSteadyClock(wall),
    policy: definePolicy(caller, presets.interactive, config.policy),
  };
}
