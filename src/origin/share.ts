import type { Clock } from '../policy/clock.ts';
import type { ShareChannel, SharePorts } from './share-ports.ts';

/** What a tab has found out about an origin. All times are in epoch milliseconds. */
export type Word =
  /** It is down, and tried next at `until`; for something new from `from` on. */
  | { readonly kind: 'down'; readonly until: number; readonly from: number }
  /** It has answered, at `until`. */
  | { readonly kind: 'up'; readonly until: number }
  /** It takes as many more requests until then. */
  | { readonly kind: 'limit'; readonly until: number; readonly remaining: number };

/** What a gate is told. */
export interface Ear {
  /** A tab has found something out. */
  readonly hear: (word: Word) => void;
  /** The canary is now for this tab to send. */
  readonly lead: () => void;
}

/** A gate's line to the gates of its origin in other tabs. */
export interface Line {
  readonly leads: () => boolean;
  /** Whether the gate has something to send a canary for. */
  readonly want: (isWanted: boolean) => void;
  readonly say: (word: Word) => void;
}

/** The lines between the tabs of one browser. */
export interface Share {
  /** Joins the gate of a key with those of the same key in other tabs. */
  readonly join: (key: string, ear: Ear) => Line;
  /** From now on this tab works alone. */
  readonly dispose: () => void;
}

interface Member {
  readonly receive: (message: Readonly<Record<string, unknown>>) => void;
  readonly check: () => void;
}

/** Of the messages: a tab with another version of them is not understood, and does not understand. */
const version = 1;
/** A word is out of date so long after its time: it comes from a tab that slept. */
const staleMs = 60_000;
/** Clocks of one machine agree but for their rounding. */
const skewMs = 1000;
const longestMs = 86_400_000;

const isBetween = (value: unknown, least: number, most: number): value is number =>
  typeof value === 'number' && value >= least && value <= most;

/**
 * Shares what is known of origins between tabs, and elects the one that sends the canary: by a lock
 * that a tab asks for only while it is seen and holds something, so that a tab that sleeps stops
 * nobody. A message carries the origin's key and times, nothing else.
 */
export function createShare(clock: Clock, ports: SharePorts): Share {
  const members = new Map<unknown, Member>();
  let channel: ShareChannel | undefined;
  let isVisible = false;
  let isAlone = false;

  /** Whoever has said something that still holds says it again. */
  const greet = (key: unknown): void => channel?.post({ version, key, kind: 'hello' });

  const unwatch = ports.watch((life) => {
    isVisible = life === 'visible';
    if (life === 'away') {
      // What is received in the back-forward cache would cost the page its place there.
      channel?.close();
      channel = undefined;
    } else if (!channel) {
      channel = ports.open((data) => {
        const message = Object(data) as Readonly<Record<string, unknown>>;
        if (message['version'] === version) members.get(message['key'])?.receive(message);
      });
      for (const key of members.keys()) greet(key);
    }
    for (const member of members.values()) member.check();
  });

  const join: Share['join'] = (key, ear) => {
    let knownAt = 0;
    let saidState: object | undefined;
    let saidLimit: object | undefined;
    let isWanted = false;
    let isLeader = false;
    let giveUp: (() => void) | undefined;

    const check = (): void => {
      const isCandidate = isWanted && isVisible && !isAlone;
      if (isCandidate === !!giveUp) return;
      isLeader = false;
      giveUp?.();
      giveUp = isCandidate
        ? ports.lock(`steadfetch ${key}`, () => {
            isLeader = true;
            ear.lead();
          })
        : undefined;
    };
    const receive: Member['receive'] = ({ kind, at, until, from, remaining }) => {
      const now = clock.now();
      if (kind === 'hello') {
        for (const said of [saidState, saidLimit]) if (said) channel?.post(said);
        return;
      }
      const isLimit = kind === 'limit';
      if (!isBetween(at, 0, now + skewMs)) return;
      if (!isBetween(until, now - (isLimit ? 0 : staleMs), now + longestMs + skewMs)) return;
      if (isLimit) {
        if (isBetween(remaining, 0, Infinity)) ear.hear({ kind, until, remaining });
      } else if (at >= knownAt) {
        // In one millisecond can be both a canary and its answer.
        if (kind === 'up') ear.hear({ kind, until });
        else if (kind === 'down' && isBetween(from, 0, until)) ear.hear({ kind, until, from });
        else return;
        knownAt = at;
        saidState = undefined;
      }
    };
    members.set(key, { receive, check });
    greet(key);

    return {
      leads: () => isLeader || isAlone,
      want(wants) {
        isWanted = wants;
        check();
      },
      say(word) {
        const at = clock.now();
        const until = Math.min(word.until, at + longestMs);
        const message = { version, key, at, ...word, until };
        if (word.kind === 'limit') saidLimit = message;
        else {
          saidState = message;
          knownAt = at;
        }
        channel?.post(message);
      },
    };
  };

  return {
    join,
    dispose() {
      isAlone = true;
      unwatch();
      channel?.close();
      channel = undefined;
      for (const { check } of members.values()) check();
    },
  };
}
