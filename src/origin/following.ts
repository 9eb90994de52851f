import type { Clock, Random } from '../policy/clock.ts';
import { between } from './between.ts';
import type { Circuit } from './circuit.ts';
import type { Line, Word } from './share.ts';

/** What one tab knows of an origin from the others, and tells them. */
export interface Following {
  /** Whether the canary is for this tab to send. */
  readonly leads: () => boolean;
  /** Something new waits here: it draws the next canary nearer, now or once it is this tab's to send. */
  readonly ask: () => void;
  /** The canary is now for this tab to send. */
  readonly lead: () => void;
  /** Whose turn it is goes by then: the leader by its circuit, another when the leader must be asleep. */
  readonly turnAt: () => number;
  /** Another tab has found the origin down, or well. */
  readonly hear: (word: Exclude<Word, { kind: 'limit' }>, waiting: number) => void;
  /** When another tab found it well, once that is to be taken over here. */
  readonly foundUpAt: () => number | undefined;
  /** This tab has found it well, or has taken that over. */
  readonly recovered: () => void;
  readonly sayDown: () => void;
  readonly sayUp: () => void;
  readonly sayLimit: (until: number, remaining: number) => void;
  /**
   * Asks for the canary, or lets it go.
   * @returns when to look at it again, in epoch milliseconds.
   */
  readonly elect: (waiting: number) => number;
}

/** When another tab has found it well, what waits here comes back within this time. */
const followMs = 2000;

/** A tab that has let its time pass by as much and more is asleep, and another goes. */
const sleepMs = 30_000;

/** Where nobody knows when the next canary goes, another tab looks again after this time. */
const unknownMs = 2000;

/** More requests left than these are not worth a message. */
const fewLeft = 20;

export function createFollowing(
  clock: Clock,
  random: Random,
  circuit: Circuit,
  line: Line | undefined,
): Following {
  /** When another tab has found the origin well, and when this one takes it for that. */
  let foundAt = 0;
  let followAt = Infinity;
  /** When the tab whose turn it is must be asleep: it has not been heard of. */
  let lateAt = Infinity;
  let hasAsked = false;

  const leads = (): boolean => !line || line.leads();
  const expectWordBy = (at: number): void => {
    if (line) lateAt = Math.min(at, clock.now() + sleepMs) + between(random, 1, 2) * sleepMs;
  };
  const forget = (): void => {
    hasAsked = false;
    followAt = Infinity;
  };

  return {
    leads,
    ask() {
      if (leads()) circuit.ask();
      else hasAsked = true;
    },
    lead() {
      if (hasAsked) circuit.ask();
    },
    // It may have been given the lead by who has found it well, just before it hears of that.
    turnAt: () => Math.min(followAt, leads() ? circuit.timerAt() : lateAt),
    hear(word, waiting) {
      if (word.kind === 'down') {
        forget();
        expectWordBy(word.until);
        circuit.follow(word.from, word.until);
      } else if (!circuit.isClosed()) {
        // In step, twenty tabs would come back as a herd.
        foundAt = clock.now();
        followAt = foundAt + (waiting > 0 ? between(random, 0, followMs) : 0);
      }
    },
    foundUpAt: () => (clock.now() >= followAt ? foundAt : undefined),
    recovered: forget,
    sayDown() {
      const soon = clock.now() + unknownMs;
      const { probeAt = soon } = circuit.getState();
      const timerAt = circuit.timerAt();
      const until = timerAt < Infinity ? timerAt : soon;
      followAt = Infinity;
      expectWordBy(until);
      // While a canary is under way nobody knows when the next one may go: 0 says so.
      line?.say({ kind: 'down', until, from: circuit.isProbing() ? 0 : Math.min(probeAt, until) });
    },
    sayUp: () => line?.say({ kind: 'up', until: clock.now() }),
    sayLimit(until, remaining) {
      if (remaining <= fewLeft) line?.say({ kind: 'limit', until, remaining });
    },
    elect(waiting) {
      if (!line) return Infinity;
      const keepUntil = line.leads() ? circuit.timerAt() : 0;
      const isDown = !circuit.isClosed() && followAt === Infinity;
      // Else twenty tabs, each with new requests now and then, would have the canary by turns.
      const isKept = isDown && clock.now() < keepUntil;
      line.want(isKept || (isDown && waiting > 0));
      return isKept && waiting === 0 ? keepUntil : Infinity;
    },
  };
}
