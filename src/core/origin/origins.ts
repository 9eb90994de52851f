import type { Clock } from '../lib/clock.ts';
import { codeOf } from '../lib/input/made-by.ts';
import type { OriginOptions } from './origin.ts';
import type { Reach } from './health/unreadable.ts';
import { originOf } from '../lib/input/url.ts';
import type { Leads, Tabs, TabsCode } from '../tabs/share-across-tabs.ts';
import { Admission, type AdmissionContext } from './admission.ts';

/** Receives the key of an admission and what went down or, with `downMs`, recovered. */
type OutageListener = (key: string, scope: string, downMs?: number) => void;

const originIn = (key: string): string => key.replace(/ .*/, '');

/** Beyond this number, idle origins are forgotten. */
const maxOrigins = 50;

/** The dependencies of all origins. */
export interface OriginsContext extends Pick<AdmissionContext, 'clock' | 'random' | 'network'> {
  readonly origin: OriginOptions;
  /** How to find out whether an origin answers at all. */
  readonly reachOf?: ((origin: string) => Reach) | undefined;
}

/** The origins of recent requests. */
export class Origins {
  readonly clock: Clock;
  /** Listeners for a possible change of any origin's state. They must not throw. */
  readonly watchers: Set<() => void> = new Set();
  /** Listeners for the start and the end of each outage. They must not throw. */
  readonly outages: Set<OutageListener> = new Set();
  /** Listeners for when this tab starts or stops probing for all tabs. */
  readonly leaders: Leads = new Set();
  /** By origin and partition, joined by a space. */
  readonly admissions: Map<string, Admission> = new Map();
  readonly #context: OriginsContext;
  /** Opened with the first request: nothing starts at import, or on a server. */
  #sharing: TabsCode | undefined;
  #tabs: Tabs | undefined;

  constructor(context: OriginsContext) {
    this.#context = context;
    this.clock = context.clock;
    this.#sharing = codeOf<TabsCode>(context.origin.tabs);
  }

  /** The admission for a URL, as it was passed to fetch, and a declared partition of its origin. */
  admissionOf(url: string, partition = '', options?: OriginOptions): Admission {
    const key = `${originOf(url)} ${partition}`;
    return this.admissions.get(key) ?? this.#open(key, options);
  }

  /** The origins of recent requests. */
  known(): readonly string[] {
    return [...this.admissions.keys()].map(originIn);
  }

  /** Connects to the other tabs, if the instance has `tabs`. */
  openTabs(): Tabs | undefined {
    const { clock, random } = this.#context;
    return (this.#tabs ??= this.#sharing?.open(clock, random, this.leaders));
  }

  /** Call it when attempts may have entered or left the foreground: the page was shown, or a query was mounted. */
  reconsider(): void {
    for (const admission of this.admissions.values()) admission.reconsider();
  }

  /** Forgets everything learned, and ends all waits. */
  forget(): void {
    this.#disposeAll();
    this.admissions.clear();
    this.#notify();
  }

  /** Disconnects from the other tabs, and stops all timers that no request needs. */
  dispose(): void {
    this.#tabs?.dispose();
    this.#tabs = this.#sharing = undefined;
    this.#disposeAll();
  }

  #open(key: string, own: OriginOptions | undefined): Admission {
    const { origin, reachOf } = this.#context;
    forgetIdle(this.admissions);
    this.openTabs();
    const admission = new Admission(
      { ...origin, ...own },
      {
        ...this.#context,
        isWatched: () => this.watchers.size > 0,
        joinTabs: this.#tabs?.join.bind(this.#tabs, key),
        onOutage: (...outage) => this.outages.forEach((notify) => notify(key, ...outage)),
        reach: reachOf?.(originIn(key)),
        onChange: () => this.#notify(),
      },
    );
    this.admissions.set(key, admission);
    return admission;
  }

  #notify(): void {
    for (const notify of this.watchers) notify();
  }

  #disposeAll(): void {
    for (const admission of this.admissions.values()) admission.dispose();
  }
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
