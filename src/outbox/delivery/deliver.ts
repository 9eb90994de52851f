import { type PastStep, renewRefused } from '../../operation/parts/submission.ts';
import type { Operations } from '../../operation/operations.ts';
import { type SenderContext, sendEntry, type SendOptions } from './attempt.ts';
import { readVariables, type Codec, type Unread } from '../codec.ts';
import type { Running } from './due.ts';
import {
  type Attempt,
  bury,
  encodeSteps,
  endDone,
  type EntryMemory,
  type EndContext,
  endFailed,
  endUnready,
  unclaimed,
} from './end-attempt.ts';
import { type HandlerDefinition, limitOf } from '../handler.ts';
import type { RowStore } from '../store/row-store.ts';
import type { Fence } from '../store/schema.ts';
import type { Row } from '../store/row.ts';

/** What a page knows of the attempts at its entries, whatever store those are in. */
export interface PageMemory extends EntryMemory {
  /** The attempts that are under way, or whose ends could not be written yet. */
  readonly underWay: Map<string, UnderWay>;
  /** The tokens of all owners that this page has had. */
  readonly tokens: Set<string>;
  /** The clears that this page has heard of: what it holds is younger. */
  readonly clears: Set<string>;
}

interface UnderWay {
  readonly running: Running;
  readonly made: Promise<Attempt | undefined>;
}

export function createPageMemory(operations: Pick<Operations, 'begin'>): PageMemory {
  const waiting: PageMemory['waiting'] = new Map();
  return {
    waiting,
    endWaiting(id, result) {
      for (const one of id === undefined ? [...waiting.keys()] : [id]) {
        const before = waiting.get(one);
        if (before && waiting.delete(one))
          operations.begin('mutation', { attempt: before.attempt, before }).end(result);
      }
    },
    foreign: new Set(),
    underWay: new Map(),
    tokens: new Set(),
    clears: new Set(),
  };
}

export interface AttemptContext extends EndContext {
  readonly sender: SenderContext;
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly codec: Codec;
  readonly memory: PageMemory;
  readonly note: RowStore['note'];
  /** The operation of an entry begins, is paused or goes on. */
  readonly onChange: SendOptions['onChange'];
}

/** Makes an attempt at an entry, and says what is to be written of it. */
export function createAttempt(context: AttemptContext): MakeAttempt {
  const { underWay } = context.memory;
  return async (running, fence, isUrged) => {
    const { id, attempts } = running.entry;
    const earlier = underWay.get(id);
    if (earlier) {
      // Its database was closed or deleted meanwhile, so its end is not written: that attempt is this one.
      const { signal } = running.controller;
      signal.addEventListener('abort', () => earlier.running.controller.abort(signal.reason));
      running.operation = earlier.running.operation;
      const made = await earlier.made.catch(() => {});
      const again = attempts - earlier.running.entry.attempts;
      // What another has tried since has another end, unless it was done before.
      if (made && (again < 2 || made.change.kind === 'done'))
        return again > 0 ? recount(made, earlier.running.entry) : made;
    }
    const forget = (): void => {
      if (underWay.get(id)?.made === made) underWay.delete(id);
    };
    const made = make(context, running, fence, isUrged).then((attempt) => {
      if (!attempt) forget();
      return attempt && { ...attempt, onWritten: forget };
    });
    made.catch(forget);
    underWay.set(id, { running, made });
    return made;
  };
}

async function make(
  context: AttemptContext,
  running: Running,
  fence: Fence,
  isUrged: boolean,
): Promise<Attempt | undefined> {
  const { sender, handlers, codec, memory, onChange } = context;
  const { entry } = running;
  const { id, handler } = entry;
  const definition = handlers.get(handler);
  const ready = await prepare(codec, entry, definition);
  if ('reason' in ready) return endUnready(context, definition, entry, ready);
  if (!definition) return undefined;
  const spent = isUrged ? undefined : limitOf(entry, definition, sender.clock.now());
  if (spent) return bury(context, definition, entry, { reason: spent, ...unclaimed(entry) });
  const before = memory.waiting.get(id);
  memory.waiting.delete(id);
  const sent = await sendEntry(sender, running, {
    ...ready,
    ...keepIn(context, entry, fence),
    definition,
    isForeign: memory.foreign.has(handler),
    isUrged,
    before,
    onChange,
  });
  if (sent.kind === 'dropped') return undefined;
  if (sent.kind === 'unsent') throw sent.error;
  if (sent.kind === 'not-repeatable')
    return bury(context, definition, entry, { reason: sent.kind, ...unclaimed(entry) });
  return sent.kind === 'done'
    ? endDone(context, definition, running, { data: sent.data, variables: ready.variables })
    : endFailed(context, definition, running, sent);
}

/** What is sent of an entry, and its requests so far; or why it cannot be sent. */
async function prepare(
  codec: Codec,
  entry: Row,
  definition: HandlerDefinition | undefined,
): Promise<{ readonly variables: unknown; readonly past: readonly PastStep[] } | Unread> {
  const read = await readVariables(entry, definition, codec);
  if ('reason' in read) return read;
  // Its tab died while it was under way, and nobody knows its key.
  if (entry.isUnkeyed && !definition?.handler.idempotent) return { reason: 'not-repeatable' };
  try {
    const past = entry.steps === undefined ? [] : await codec.decode(entry.steps);
    if (!isPast(past)) throw new TypeError('What is kept of its requests cannot be read.');
    return { ...read, past: entry.isRedriven ? renewRefused(past) : past };
  } catch (error) {
    return { reason: 'unreadable', error };
  }
}

const isPast = (value: unknown): value is readonly PastStep[] =>
  Array.isArray(value) && value.every((step) => typeof Object(step).id === 'string');

/** How the requests of an entry are kept before one of them goes. */
function keepIn(
  { codec, note }: AttemptContext,
  entry: Row,
  fence: Fence,
): Pick<SendOptions, 'note' | 'takeBack'> {
  const { attempts, isUnkeyed: wasUnkeyed } = entry;
  return {
    async note({ isUnkeyed, steps }) {
      const write = async (kept: readonly PastStep[]): Promise<boolean> =>
        note(entry, fence, {
          ...(await encodeSteps(codec, kept)),
          isRedriven: false,
          noted: attempts,
          ...(isUnkeyed && { isUnkeyed }),
        });
      try {
        return await write(steps);
      } catch {
        // There may be no room for the bytes, or they cannot be stored: then what they are known by.
        return write(steps.map((step) => ({ ...step, body: undefined })));
      }
    },
    takeBack: () => note(entry, fence, { noted: attempts - 1, isUnkeyed: wasUnkeyed }),
  };
}

/** The entry was claimed once more, to write this end of it: that was no attempt. */
function recount(made: Attempt, { unsent }: Row): Attempt {
  const { change } = made;
  if (!('attempts' in change)) return made;
  const counted = { attempts: change.attempts + 1, unsent: (change.unsent ?? unsent) + 1 };
  return { ...made, change: { ...change, ...counted } };
}

/** @returns undefined where nothing is to be written: nobody wants it any more, or it is another tab's. */
type MakeAttempt = (
  running: Running,
  fence: Fence,
  isUrged: boolean,
) => Promise<Attempt | undefined>;
