import type { Random } from '../lib/clock.ts';
import type { ShareChannel, SharePorts } from './channel.ts';

/** What a tab tells the others about an origin, or about one endpoint of it (`scope`). */
type Word =
  /** It is down. If this tab probes it, that is said again every few seconds, while it is so. */
  | { readonly kind: 'down'; readonly scope: string; readonly isProbed: boolean }
  /** It has answered. */
  | { readonly kind: 'up'; readonly scope: string }
  /** It takes as many more requests within `forMs`. */
  | {
      readonly kind: 'limit';
      readonly scope: string;
      readonly forMs: number;
      readonly remaining: number;
    };

/** What one tab's admission of an origin hears. `from` is a number for each tab. */
export type Hear = (word: Word, from: number) => void;

/** The line of one admission to those of the same origin in other tabs. */
export interface Line {
  /** The number of this tab: of two that probe, the lower one goes on. */
  readonly id: () => number;
  readonly say: (word: Word) => void;
  /** Whether this tab may probe for others: not while it is hidden, because its timers are late. */
  readonly isSeen: () => boolean;
}

/** The lines between the tabs of one browser. */
export interface Tabs {
  readonly join: (key: string, hear: Hear) => Line;
  /** From now on this tab works alone. */
  readonly dispose: () => void;
}

/** Of the messages: a tab with another version of them is not understood, and does not understand. */
const version = 2;

/** However long a message says, it is believed for no longer. */
const longestMs = 15_000;

/**
 * Carries words between tabs. They are advice: they have lengths of time and no times, so that a
 * clock that is set, or a message that comes late, does little harm; and none is believed for long.
 */
export function createTabs(random: Random, ports: SharePorts): Tabs {
  let id: number | undefined;
  const ownId = (): number => (id ??= random());
  const members = new Map<unknown, Hear>();
  let channel: ShareChannel | undefined;
  let isVisible = false;
  let isAlone = false;

  const receive = (data: unknown): void => {
    const message = Object(data) as Readonly<Record<string, unknown>>;
    const { key, from } = message;
    const word = message['version'] === version ? readWord(message) : undefined;
    if (word && typeof from === 'number') members.get(key)?.(word, from);
  };
  const unwatch = ports.watch((life) => {
    isVisible = life === 'visible';
    if (life === 'away') {
      // What is received in the back-forward cache would cost the page its place there.
      channel?.close();
      channel = undefined;
    } else if (!isAlone) channel ??= ports.open('steadfetch', receive);
  });
  return {
    join(key, hear) {
      members.set(key, hear);
      return {
        id: ownId,
        isSeen: () => isVisible,
        say(word) {
          try {
            channel?.post({ version, key, from: ownId(), ...word });
          } catch {
            // A line that the browser has closed.
          }
        },
      };
    },
    dispose() {
      isAlone = true;
      unwatch();
      channel?.close();
      channel = undefined;
    },
  };
}

function readWord({
  kind,
  scope,
  isProbed,
  forMs,
  remaining,
}: Readonly<Record<string, unknown>>): Word | undefined {
  if (typeof scope !== 'string') return undefined;
  if (kind === 'up') return { kind, scope };
  if (kind === 'down') return { kind, scope, isProbed: isProbed === true };
  const isLimit = kind === 'limit' && Number(forMs) > 0 && Number(remaining) >= 0;
  return isLimit
    ? { kind, scope, forMs: Math.min(Number(forMs), longestMs), remaining: Number(remaining) }
    : undefined;
}
