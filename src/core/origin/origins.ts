import type { Clock, Random } from '../lib/clock.ts';
import { codeOf } from '../lib/input/made-by.ts';
import type { Network, OriginOptions } from './origin.ts';
import type { Reach } from './health/unreadable.ts';
import { originOf } from '../lib/input/url.ts';
import type { Leads, Tabs, TabsCode } from '../tabs/share-across-tabs.ts';
import { Admission, type AdmissionContext } from './admission.ts';

/** Receives the key of an admission and what went down or, with `downMs`, recovered. */
type OutageListener = (key: string, scope: string, downMs?: number) => void;

/** The origins of recent requests. */
export interface Origins {
  /** The admission for a URL, as it was passed to fetch, and a declared partition of its origin. */
  readonly admissionOf: (url: string, partition?: string, options?: OriginOptions) => Admission;
  /** The origins of recent requests. */
  readonly known: () => readonly string[];
  /** Listeners for a possible change of any origin's state. They must not throw. */
  readonly watchers: Set<() => void>;
  /** Connects to the other tabs, if the instance has `tabs`. */
  readonly openTabs: () => Tabs | undefined;
  readonly clock: Clock;
  /** By origin and partition, joined by a space. */
  readonly admissions: ReadonlyMap<string, Admission>;
  /** Listeners for the start and the end of each outage. They must not throw. */
  readonly outages: Set<OutageListener>;
  /** Listeners for when this tab starts or stops probing for all tabs. */
  readonly leaders: Leads;
  /** Call it when attempts may have entered or left the foreground: the page was shown, or a query was mounted. */
  readonly reconsider: () => void;
  /** Forgets everything learned, and ends all waits. */
  readonly forget: () => void;
  /** Disconnects from the other tabs, and stops all timers that no request needs. */
  readonly dispose: () => void;
}

const originIn = (key: string): string => key.replace(/ .*/, '');

/** Beyond this number, idle origins are forgotten. */
const maxOrigins = 50;

export function createOrigins(
  clock: Clock,
  random: Random,
  defaults: OriginOptions,
  network: Network,
  reachOf?: (origin: string) => Reach,
): Origins {
  const outages = new Set<OutageListener>();
  const leaders: Leads = new Set();
  const admissions = new Map<string, Admission>();
  const watchers = new Set<() => void>();
  const onChange = (): void => watchers.forEach((notify) => notify());
  const shared = { clock, random, network, isWatched: () => watchers.size > 0, onChange };
  /** Opened with the first request: nothing starts at import, or on a server. */
  let sharing = codeOf<TabsCode>(defaults.tabs);
  let tabs: Tabs | undefined;
  let stopListening: (() => void) | undefined;

  const openTabs = (): Tabs | undefined => (tabs ??= sharing?.open(clock, random, leaders));
  const all = (act: (admission: Admission) => void): void => admissions.forEach((one) => act(one));
  const open = (key: string, options: OriginOptions | undefined): Admission => {
    forgetIdle(admissions);
    openTabs();
    stopListening ??= network.onBack(() => all((admission) => admission.hastenProbes()));
    const joinTabs = tabs?.join.bind(tabs, key);
    const onOutage: AdmissionContext['onOutage'] = (...outage) =>
      outages.forEach((notify) => notify(key, ...outage));
    const reach = reachOf?.(originIn(key));
    const admission = new Admission(
      { ...defaults, ...options },
      { ...shared, joinTabs, onOutage, reach },
    );
    admissions.set(key, admission);
    return admission;
  };

  return {
    admissionOf(url, partition = '', options) {
      const key = `${originOf(url)} ${partition}`;
      return admissions.get(key) ?? open(key, options);
    },
    known: () => [...admissions.keys()].map(originIn),
    watchers,
    openTabs,
    clock,
    admissions,
    outages,
    leaders,
    reconsider: () => all((admission) => admission.reconsider()),
    forget() {
      all((admission) => admission.dispose());
      admissions.clear();
      onChange();
    },
    dispose() {
      stopListening?.();
      tabs?.dispose();
      tabs = sharing = undefined;
      all((admission) => admission.dispose());
    },
  };
}

/** Drops idle admissions to make room for one more. */
function forgetIdle(admissions: Map<string, Admission>): void {
  for (const [key, admission] of admissions) {
    if (admissions.size < maxOrigins) return;
    if (!admission.isIdle()) continue;
    admission.dispose();
    admissions.delete(key);
  }
}
