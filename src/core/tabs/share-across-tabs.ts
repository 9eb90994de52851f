import { inDevelopment } from '../lib/development.ts';
import type { Clock, Random } from '../lib/clock.ts';
import { checkNames, isFunction, reject } from '../lib/input/check.ts';
import { hasPage } from '../lib/browser/page.ts';
import { code, type MadeBy } from '../lib/input/made-by.ts';
import { openChannel, type ShareChannel, type SharePorts, watchPageState } from './ports.ts';
import {
  createLeader,
  type Leader,
  type LeadListener,
  type Line,
  type Receive,
  type TabMessage,
} from './leader.ts';
import { createWritesElsewhere, type ShareWrites, writesKey } from './write-message.ts';

/** The code that shares across tabs. */
export interface TabsCode {
  readonly by: 'shareAcrossTabs';
  /** Undefined if no tab can be reached. */
  readonly open: (clock: Clock, random: Random, leaders: Leads) => Tabs | undefined;
}

/** Listeners for when this tab begins or stops to probe something for all tabs. They must not throw. */
export type Leads = Set<(key: string, ...lead: Parameters<LeadListener>) => void>;

/** The tabs of one browser. */
export interface Tabs {
  /** Joins the admissions of one origin. `receive` gets the messages of other tabs. */
  readonly join: (key: string, receive: Receive) => Leader;
  readonly shareWrites: ShareWrites;
  /** From now on this tab works alone. */
  readonly dispose: () => void;
}

/** The version of the messages. Tabs with different versions ignore each other. */
const version = 2;

/** A received duration is trusted up to this. */
const longestMs = 15_000;

/**
 * Shares the health and the rate limits of each origin between the tabs of a browser, and lets one of them probe for
 * all, for `tabs`.
 * Needs a BroadcastChannel.
 *
 * @throws TypeError for invalid ports.
 *
 * @param ports - Connects the tabs. @default BroadcastChannel and the page's lifecycle
 *
 * @example
 * ```ts
 * const shared = createSteadfetch({ tabs: shareAcrossTabs() });
 * ```
 */
export function shareAcrossTabs(ports?: SharePorts): MadeBy<'shareAcrossTabs'> {
  inDevelopment(() => ports && checkPorts(ports));
  const made: TabsCode = {
    by: 'shareAcrossTabs',
    open(clock, random, leaders) {
      if (!ports && !hasPage()) return undefined;
      const own = ports ?? { open: openChannel, watch: watchPageState };
      return createTabs(clock, random, own, leaders);
    },
  };
  return { [code]: made };
}

/**
 * Messages between tabs are advice. They contain durations, not times, so a clock that is set, or a late
 * message, does little harm; and none is trusted for long.
 */
export function createTabs(clock: Clock, random: Random, ports: SharePorts, leaders: Leads): Tabs {
  let id: number | undefined;
  const ownId = (): number => (id ??= random());
  const members = new Map<unknown, Receive>();
  let channel: ShareChannel | undefined;
  let receiveWrite: ReturnType<typeof createWritesElsewhere> | undefined;
  let isVisible = false;

  const receive = (data: unknown): void => {
    const message = Object(data) as Readonly<Record<string, unknown>>;
    const { key, from } = message;
    if (message['version'] !== version || typeof from !== 'number') return;
    if (key === writesKey) return receiveWrite?.(message, from);
    const own = readMessage(message);
    if (own) members.get(key)?.(own, from);
  };
  const post = (key: string, message: object): void => {
    try {
      channel?.post({ version, key, from: ownId(), ...message });
    } catch {
      // The browser has closed the channel.
    }
  };
  const close = (): void => {
    channel?.close();
    channel = undefined;
  };
  const unwatch = ports.watch((life) => {
    isVisible = life === 'visible';
    // A page that receives messages in the back-forward cache would be evicted from it.
    if (life === 'away') close();
    else channel ??= ports.open('steadfetch', receive);
  });
  return {
    join(key, receiveOwn) {
      members.set(key, receiveOwn);
      const onLead: LeadListener = (...lead) => {
        for (const notify of leaders) notify(key, ...lead);
      };
      const line: Line = {
        id: ownId,
        isSeen: () => isVisible,
        close() {
          // Another admission of the same origin may have joined since.
          if (members.get(key) === receiveOwn) members.delete(key);
        },
        post: (message) => post(key, message),
      };
      return createLeader(clock, random, line, onLead);
    },
    shareWrites(onWrite) {
      receiveWrite = createWritesElsewhere(clock, onWrite);
      return (message) => post(writesKey, message);
    },
    dispose() {
      unwatch();
      close();
    },
  };
}

function readMessage({
  kind,
  scope,
  isProbed,
  forMs,
  remaining,
  gapMs,
  pauseMs,
  isFound,
  isUntold,
}: Readonly<Record<string, unknown>>): TabMessage | undefined {
  if (typeof scope !== 'string') return undefined;
  if (kind === 'up') return { kind, scope };
  if (kind === 'down') return { kind, scope, isProbed: isProbed === true };
  if (kind === 'pace' && Number(gapMs) >= 0 && Number(pauseMs) >= 0) {
    const [gap, pause] = [Math.min(Number(gapMs), longestMs), Math.min(Number(pauseMs), longestMs)];
    const flags = { isFound: isFound === true, isUntold: isUntold === true };
    return { kind, scope, gapMs: gap, pauseMs: pause, ...flags };
  }
  const isLimit = kind === 'limit' && Number(forMs) > 0 && Number(remaining) >= 0;
  return isLimit
    ? { kind, scope, forMs: Math.min(Number(forMs), longestMs), remaining: Number(remaining) }
    : undefined;
}

function checkPorts(ports: SharePorts): void {
  checkNames('shareAcrossTabs', ports, ['open', 'watch']);
  for (const name of ['open', 'watch'] as const)
    if (!isFunction(ports[name])) reject('shareAcrossTabs', name, ports[name], 'a function');
}
