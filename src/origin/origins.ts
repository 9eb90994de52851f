import type { Clock, Random } from '../lib/clock.ts';
import { codeOf } from '../lib/made-by.ts';
import type { Tabs, TabsCode } from '../tabs/share-across-tabs.ts';
import { type Admission, createAdmission } from './admission.ts';
import type { Network } from './network.ts';
import type { OriginOptions } from './options.ts';
import { type OriginState, up, worstOf } from './status.ts';
import { createStore, keepIfSame, type Readable } from '../lib/store.ts';
import { watchConnection } from './watch-connection.ts';

/** All origins that requests have gone to. */
export interface Origins {
  /** The admission of a URL, as it was passed to fetch, and of a declared partition of its origin. */
  readonly admissionOf: (url: string, partition?: string, options?: OriginOptions) => Admission;
  /** The origins that requests have gone to lately. */
  readonly known: () => readonly string[];
  /** The state of one origin, its partitions included; of all of them, the worst, without an origin. */
  readonly stateOf: (origin?: string) => Readable<OriginState>;
  /** The page was shown, or a query has come into sight: who waits in the foreground may have changed. */
  readonly reconsider: () => void;
  /** Forgets all that was learned. Nothing waits any more. */
  readonly forget: () => void;
  /** This tab works alone from now on, and what does not wait has no timer. */
  readonly dispose: () => void;
}

/** Origins that are remembered, beyond those where something is under way. */
const maxOrigins = 50;
const maxKeys = 500;

/** The origin of a URL; for what has none, the text before its path. */
export function originOf(url: string): string {
  const base = globalThis.location?.href;
  try {
    return new URL(url, base).origin;
  } catch {
    return '';
  }
}

export function createOrigins(
  clock: Clock,
  random: Random,
  defaults: OriginOptions,
  network: Network,
): Origins {
  /** By what stands before the path: so that a URL need not be parsed for every request. */
  const keys = new Map<string, string>();
  const admissions = new Map<string, Admission>();
  const changes = createStore<object>({});
  let watchers = 0;

  const keyOf = (url: string, partition: string): string => {
    // All of the authority, and whatever else: it is a name for what it resolves to.
    const end = url.indexOf('/', url.indexOf('//') + 2);
    const authority = end < 0 ? url : url.slice(0, end);
    const prefix = partition ? `${authority} ${partition}` : authority;
    let key = keys.get(prefix);
    if (key === undefined) {
      key = `${originOf(url)} ${partition}`;
      if (keys.size >= maxKeys) keys.clear();
      // A `data:` URL is all of its content.
      if (prefix.length < 300) keys.set(prefix, key);
    }
    return key;
  };
  /** Opened with the first request, not before: nothing starts at import, or on a server. */
  let sharing = defaults.tabs && codeOf<TabsCode>(defaults.tabs);
  let tabs: Tabs | undefined;
  const forgetUsual = (): void => {
    for (const admission of admissions.values()) admission.forgetUsual();
  };
  const unwatch = watchConnection(forgetUsual);
  const forgetIdle = (): void => {
    for (const [key, admission] of admissions) {
      if (admissions.size < maxOrigins) return;
      if (!admission.isIdle()) continue;
      admission.dispose();
      admissions.delete(key);
    }
  };
  const open = (key: string, options: OriginOptions | undefined): Admission => {
    forgetIdle();
    tabs ??= sharing?.open(clock, random);
    const admission = createAdmission(
      { ...defaults, ...options },
      {
        clock,
        random,
        network,
        isWatched: () => watchers > 0,
        joinTabs: tabs?.join.bind(tabs, key),
      },
    );
    admissions.set(key, admission);
    admission.subscribe(() => changes.set({}));
    return admission;
  };

  return {
    admissionOf(url, partition = '', options) {
      const key = keyOf(url, partition);
      return admissions.get(key) ?? open(key, options);
    },
    known: () => [...admissions.keys()].map((key) => key.replace(/ .*/, '')),
    stateOf(origin) {
      const wanted = origin && originOf(origin);
      if (wanted === '')
        throw new TypeError(`useOriginStatus: '${origin}' is no URL, and must be one.`);
      let state = up;
      return {
        getState() {
          const own = [...admissions].filter(
            ([key]) => wanted === undefined || key.split(' ')[0] === wanted,
          );
          const worst = worstOf(own.map(([, one]) => one.getState()));
          // Shown is the time on the wall, also where that was set.
          const { retryAt = NaN } = worst;
          const shownAt = retryAt - (clock.setBackMs?.() ?? 0);
          const shown = Number.isNaN(shownAt) ? worst : { ...worst, retryAt: shownAt };
          return (state = keepIfSame(state, shown));
        },
        subscribe(listener) {
          watchers++;
          const stop = changes.subscribe(listener);
          for (const admission of admissions.values()) admission.reconsider();
          return () => {
            watchers--;
            stop();
            for (const admission of admissions.values()) admission.reconsider();
          };
        },
      };
    },
    reconsider() {
      for (const admission of admissions.values()) admission.reconsider();
    },
    forget() {
      for (const admission of admissions.values()) admission.dispose();
      admissions.clear();
      changes.set({});
    },
    dispose() {
      unwatch();
      tabs?.dispose();
      tabs = sharing = undefined;
      for (const admission of admissions.values()) admission.dispose();
    },
  };
}
