import type { Clock } from '../lib/clock.ts';
import { keepLast } from '../lib/store.ts';

/** The place of a write among all writes: when it was first requested and, within one moment, its turn. */
export interface WritePlace {
  /** In epoch milliseconds. */
  readonly at: number;
  readonly turn: number;
}

/** The parts of a resource that a write changes. */
export interface WriteScope {
  readonly method: string;
  /** The fields that a PATCH sets; undefined for all of the resource. */
  readonly fields?: readonly string[] | undefined;
}

/** A write that was sent, as an earlier write to the same resource sees it. */
export interface SentWrite extends WriteScope {
  readonly place: WritePlace;
  /** Whether it may have taken effect. */
  readonly mayBeDone: boolean;
  /** The latest time at which it may still take effect, in epoch milliseconds. */
  readonly openUntil: () => number;
  /** Called when a later write may have taken effect: a retry of this one would not be sent, so its wait ends. */
  readonly endIfSuperseded?: () => void;
}

/** A message to the other tabs: a write was sent, or its outcome is known. */
export interface WriteMessage extends WriteScope {
  /** The URL of the resource. */
  readonly resource: string;
  /** The number of the write within its tab. */
  readonly write: number;
  /** How long ago it was first requested, in milliseconds. */
  readonly agoMs: number;
  /** `done` includes an unknown outcome. */
  readonly state: 'sent' | 'done' | 'refused';
}

/** Receives the writes of other tabs. */
type OnWrite = (resource: string, write: SentWrite, state: WriteMessage['state']) => void;

/** Subscribes to the writes of other tabs. @returns a function that announces a write to them. */
export type ShareWrites = (onWrite: OnWrite) => (message: WriteMessage) => void;

/** The key of messages about writes. */
export const writesKey = 'writes';

/** Without further messages, a write of another tab is assumed to have taken effect after this time. */
const answeredMs = 15_000;
/** The number of unanswered writes that are remembered. */
const mostWrites = 500;

/** A write of another tab. A refused one has not taken effect. */
type WriteElsewhere = SentWrite & { mayBeDone: boolean };

const toWrite = ({ agoMs, method, fields }: WriteMessage, now: number): WriteElsewhere => ({
  place: { at: now - agoMs, turn: 0 },
  method,
  fields,
  mayBeDone: true,
  openUntil: () => now + answeredMs,
});

/** Converts the messages of other tabs to calls of `onWrite`. */
export function createWritesElsewhere(
  clock: Clock,
  onWrite: OnWrite,
): (message: Readonly<Record<string, unknown>>, from: number) => void {
  const sent = new Map<string, WriteElsewhere>();
  return (data, from) => {
    const message = readWriteMessage(data);
    if (!message) return;
    const id = `${from} ${message.write}`;
    const write = sent.get(id) ?? toWrite(message, clock.now());
    sent.delete(id);
    if (message.state === 'sent') sent.set(id, write);
    if (message.state === 'refused') write.mayBeDone = false;
    keepLast(sent, mostWrites);
    onWrite(message.resource, write, message.state);
  };
}

/** A message about a write; undefined for any other data. */
function readWriteMessage(data: Readonly<Record<string, unknown>>): WriteMessage | undefined {
  const { resource, write, agoMs, method, fields, state } = data;
  const isMessage =
    typeof resource === 'string' &&
    typeof write === 'number' &&
    typeof method === 'string' &&
    Number(agoMs) >= 0 &&
    (state === 'sent' || state === 'done' || state === 'refused');
  if (!isMessage) return undefined;
  const known = Array.isArray(fields) ? (fields as readonly string[]) : undefined;
  return { resource, write, agoMs: Number(agoMs), method, fields: known, state };
}
