import type { Clock, Random } from '../lib/clock.ts';
import { codeOf } from '../lib/input/made-by.ts';
import type { Network, OriginOptions } from './origin.ts';
import type { Reach } from './health/unreadable.ts';
import { originOf } from '../lib/input/url.ts';
import type { Leads, Tabs, TabsCode } from '../tabs/share-across-tabs.ts';
import { Admission, type AdmissionContext } from './admission.ts';

/** Is told of the admission by its key, what of it is down or up again, and then for how long it was down. */
type OutageListener = (key: string, scope: string, downMs?: number) => void;

/** All origins that requests have gone to. */
export interface Origins {
  /** The admission of a URL, as it was passed to fetch, and of a declared partition of its origin. */
  readonly admissionOf: (url: string, partition?: string, options?: OriginOptions) => Admission;
  /** The origins that requests have gone to lately. */
  readonly known: () => readonly string[];
  /** Who is told when the state of any of them may have changed. They must not throw. */
  readonly watchers: Set<() => void>;
  /** Joins the tabs, where that is asked for. */
  readonly openTabs: () => Tabs | undefined;
  readonly clock: Clock;
  /** By origin and partition, with a space in between. */
  readonly admissions: ReadonlyMap<string, Admission>;
  /** Who is told once at each beginning and each end of an outage. They must not throw. */
  readonly outages: Set<OutageListener>;
  /** The same where this tab begins to probe for all tabs, and no longer does. */
  readonly leaders: Leads;
  /** The page was shown, or a query has come into sight: who waits in the foreground may have changed. */
  readonly reconsider: () => void;
  /** Forgets all that was learned. Nothing waits any more. */
  readonly forget: () => void;
  /** This tab works alone from now on, and what does not wait has no timer. */
  readonly dispose: () => void;
}

const originIn = (key: string): string => key.replace(/ .*/, '');

/** Origins that are remembered, beyond those where something is under way. */
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
  const onChange = (): void => watchers.forEach((tell) => tell());
  const shared = { clock, random, network, isWatched: () => watchers.size > 0, onChange };
  /** Opened with the first request, not before: nothing starts at import, or on a server. */
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
      outages.forEach((tell) => tell(key, ...outage));
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

/** Makes room for one more. */
function forgetIdle(admissions: Map<string, Admission>): void {
  for (const [key, admission] of admissions) {
    if (admissions.size < maxOrigins) return;
    if (!admission.isIdle()) continue;
    admission.dispose();
    admissions.delete(key);
  }
}
