import { systemRandom } from '../../core/lib/clock.ts';
import { hasPage } from '../../core/lib/browser/page.ts';
import { createStore, type Readable } from '../../core/lib/store.ts';
import {
  openChannel,
  watchPageState,
  type Instance,
  type ShareChannel,
  type TabLife,
} from '../../core/internal.ts';
import type { InspectedTabs } from '../inspect.ts';

/** A tab of this app, from its own messages. */
export interface KnownTab {
  readonly id: string;
  readonly title: string;
  readonly path: string;
  /** `away`: frozen, or in the back-forward cache. */
  readonly life: TabLife;
  /** The origins and endpoints that it probes. */
  readonly probes: readonly string[];
  /** When it last sent a message, in epoch milliseconds. */
  readonly seenAt: number;
}

/** A message between tabs. */
interface TabMessage {
  readonly key: number;
  readonly at: number;
  readonly text: string;
}

export interface TabsSeen {
  /** This tab first. */
  readonly tabs: readonly KnownTab[];
  /** Newest first. */
  readonly messages: readonly TabMessage[];
}

/** The tabs in which the devtools run: they answer while this is watched. */
export interface TabWatch extends Readable<TabsSeen> {
  /** Asks all tabs for their state. */
  readonly refresh: () => void;
}

const mostMessages = 100;
/** A tab that has not answered for this long is frozen or gone. */
const silentMs = 7000;
const forgottenMs = 60_000;

export function createTabWatch(
  { wall }: Pick<Instance, 'wall'>,
  tabsOf: () => InspectedTabs,
): TabWatch {
  const id = systemRandom().toString(36).slice(2, 8);
  const { getState, subscribe, set } = createStore<TabsSeen>({ tabs: [], messages: [] });
  const others = new Map<string, KnownTab>();
  let messages: readonly TabMessage[] = [];
  let life: TabLife = 'visible';
  let channel: ShareChannel | undefined;
  const requestStates = (): void => channel?.post({ kind: 'ask' });

  const self = (): KnownTab => ({
    id,
    title: document.title,
    path: document.location.pathname,
    life,
    probes: probedHere(tabsOf()),
    seenAt: wall.now(),
  });
  const show = (): void => {
    const now = wall.now();
    for (const [key, { seenAt }] of others) if (now - seenAt > forgottenMs) others.delete(key);
    const known = [...others.values()].map((one) => seenFrom(one, now));
    set({ tabs: hasPage() ? [self(), ...known] : known, messages });
  };
  const receive = (data: unknown): void => {
    const { kind, tab } = Object(data) as { readonly kind?: unknown; readonly tab?: KnownTab };
    if (kind === 'ask') channel?.post({ kind: 'here', tab: self() });
    if (typeof tab?.id === 'string' && Array.isArray(tab.probes)) {
      others.set(tab.id, { ...tab, seenAt: wall.now() });
      show();
    }
  };
  /** Logs a message between the instances of the tabs. */
  const log = (data: unknown): void => {
    const text = describeMessage(Object(data) as Record<string, unknown>);
    if (text === undefined) return;
    const key = (messages[0]?.key ?? 0) + 1;
    messages = [{ key, at: wall.now(), text }, ...messages].slice(0, mostMessages);
    show();
  };
  if (hasPage()) {
    channel = openChannel('steadfetch-devtools', receive);
    openChannel('steadfetch', log);
    watchPageState((next) => {
      life = next;
      channel?.post({ kind: 'here', tab: self() });
    });
    requestStates();
  }
  return {
    getState,
    subscribe,
    refresh() {
      requestStates();
      show();
    },
  };
}

const seenFrom = (tab: KnownTab, now: number): KnownTab =>
  now - tab.seenAt > silentMs ? { ...tab, life: 'away' } : tab;

const probedHere = ({ probes }: InspectedTabs): readonly string[] =>
  probes.filter(({ by }) => by === 'this-tab').map(({ origin, endpoint }) => endpoint ?? origin);

function describeMessage(message: Readonly<Record<string, unknown>>): string | undefined {
  const { key, kind, scope, isProbed, forMs, remaining, pauseMs } = message;
  if (typeof key !== 'string' || typeof scope !== 'string') return undefined;
  const what = scope || key.split(' ')[0];
  if (kind === 'limit')
    return `${what} takes ${String(remaining)} more requests within ${Number(forMs) / 1000} s`;
  if (kind === 'pace' && Number(pauseMs) > 0)
    return `${what} has refused a request, and is paused for ${Number(pauseMs) / 1000} s`;
  if (kind === 'up') return `${what} is up again`;
  if (kind !== 'down') return undefined;
  return `${what} is down${isProbed === true ? ', and probed by the tab that says so' : ''}`;
}
