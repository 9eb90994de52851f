import type { Clock } from '../lib/clock.ts';

/** Where a write stands among all writes: when it was first asked for and, within one moment, its turn. */
export interface WritePlace {
  /** In epoch milliseconds. */
  readonly at: number;
  readonly turn: number;
}

/** A write that was sent: what an earlier one to the same resource has to know of it. */
export interface SentWrite {
  readonly place: WritePlace;
  /** It leaves nothing of what earlier writes have made of the resource. */
  readonly isReplacing: boolean;
  /** Whether it may have been done. */
  readonly mayBeDone: boolean;
  /** Until when it may still be done, as far as is known; in epoch milliseconds. */
  readonly openUntil: () => number;
  /** A later write may have been done: this one no longer waits for a retry that would not be sent. */
  readonly endIfSuperseded?: () => void;
}

/** What a tab says to the others of a write: that it was sent, and what became of it. */
export interface WriteWord {
  /** The URL that it writes to. */
  readonly resource: string;
  /** Which of the writes of its tab it is. */
  readonly write: number;
  /** How long ago it was first asked for, in milliseconds. */
  readonly agoMs: number;
  /** It leaves nothing of what earlier writes have made. */
  readonly isReplacing: boolean;
  /** `done`: or it may have been. */
  readonly state: 'sent' | 'done' | 'refused';
}

/** What is heard of a write of another tab. */
type HearWrite = (resource: string, write: SentWrite, state: WriteWord['state']) => void;

/** Joins the writes of the other tabs. @returns what tells them of one. */
export type ShareWrites = (hear: HearWrite) => (word: WriteWord) => void;

/** Which messages are about writes. */
export const writesKey = 'writes';

/** What another tab has sent, and says nothing more of, may have been done by then. */
const answeredMs = 15_000;
/** So many are remembered until they are answered. */
const mostWrites = 500;

/** A write of another tab. */
class WriteElsewhere implements SentWrite {
  readonly place: WritePlace;
  readonly isReplacing: boolean;
  readonly #until: number;
  mayBeDone = true;

  constructor({ agoMs, isReplacing }: WriteWord, now: number) {
    this.place = { at: now - agoMs, turn: 0 };
    this.isReplacing = isReplacing;
    this.#until = now + answeredMs;
  }

  openUntil(): number {
    return this.#until;
  }

  /** It was refused, and so it was not done. */
  refuse(): void {
    this.mayBeDone = false;
  }
}

/** The writes of other tabs: makes of their messages what `hear` is told. */
export function createWritesElsewhere(
  clock: Clock,
  hear: HearWrite,
): (message: Readonly<Record<string, unknown>>, from: number) => void {
  const sent = new Map<string, WriteElsewhere>();
  return (message, from) => {
    const word = readWriteWord(message);
    if (!word) return;
    const id = `${from} ${word.write}`;
    const write = sent.get(id) ?? new WriteElsewhere(word, clock.now());
    sent.delete(id);
    if (word.state === 'sent') sent.set(id, write);
    if (word.state === 'refused') write.refuse();
    for (const first of sent.keys()) {
      if (sent.size <= mostWrites) break;
      sent.delete(first);
    }
    hear(word.resource, write, word.state);
  };
}

/** Reads such a message; undefined where it is none. */
function readWriteWord(message: Readonly<Record<string, unknown>>): WriteWord | undefined {
  const { resource, write, agoMs, isReplacing, state } = message;
  const isWord =
    typeof resource === 'string' &&
    typeof write === 'number' &&
    Number(agoMs) >= 0 &&
    (state === 'sent' || state === 'done' || state === 'refused');
  return isWord
    ? { resource, write, agoMs: Number(agoMs), isReplacing: isReplacing === true, state }
    : undefined;
}
