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

/** Joins the writes of the other tabs. `hear` gets what they say. @returns what says it to them. */
export type ShareWrites = (
  hear: (word: WriteWord, from: number) => void,
) => (word: WriteWord) => void;

/** Which messages are about writes. */
export const writesKey = 'writes';

/** Reads such a message; undefined where it is none. */
export function readWriteWord(message: Readonly<Record<string, unknown>>): WriteWord | undefined {
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
