import type {
  Decision,
  Fetches,
  HandedOver,
  LoopContext,
  Network,
  OperationResult,
  TabPorts,
  WaitingWrites,
} from '../../core/internal.ts';
import type { Clock, SteadyClock } from '../../core/lib/clock.ts';
import type { Codec } from '../codec.ts';
import type { Receipts } from '../receipts.ts';
import type { HandlerDefinition } from '../handler.ts';
import type { OtherTabs, Pauses } from '../messages.ts';
import type { Display } from '../state.ts';
import type { RowLinks } from '../store/linked.ts';
import type { Row, Unplaced } from '../store/row.ts';
import type { Settled } from '../store/row-store.ts';
import type { Backend } from '../store/schema.ts';
import type { Change } from '../store/transitions.ts';
import type { Running } from './due.ts';

/** It measures by the steady clock of its instance; what it says of times is told by the clock on the wall. */
export interface SenderContext extends LoopContext, Fetches {
  readonly clock: SteadyClock;
  readonly waitingWrites: WaitingWrites;
}

/** The end of one attempt at an entry: the change of its row, and the result for its submitter. */
export interface Attempt {
  readonly entry: Row;
  readonly change: Change;
  readonly delivered?: { readonly data: unknown; readonly variables: unknown };
  readonly error?: unknown;
  /** Of an attempt after which there is another. */
  readonly decision?: Decision;
  readonly onWritten?: () => void;
}

/** An attempt, from its begin until its end is written. */
export interface UnderWay {
  readonly running: Running;
  readonly made: Promise<Attempt | undefined>;
}

/** The attempts of a page at its entries, in whichever store those are. */
export class PageMemory {
  /** Handlers that have ended well and sent nothing through their context. */
  readonly foreign: Set<string> = new Set();
  /** The attempts that are under way, or whose ends could not be written yet. */
  readonly underWay: Map<string, UnderWay> = new Map();
  readonly tokens: Set<string> = new Set();
  readonly #operations: SenderContext['operations'];
  /** The operations of those that wait here for their next attempt. */
  readonly #waiting: Map<string, HandedOver> = new Map();

  constructor(operations: SenderContext['operations']) {
    this.#operations = operations;
  }

  wait(id: string, before: HandedOver): void {
    this.#waiting.set(id, before);
  }

  /** Its next attempt begins. @returns the operation that goes on. */
  takeWaiting(id: string): HandedOver | undefined {
    const before = this.#waiting.get(id);
    this.#waiting.delete(id);
    return before;
  }

  /** Ends the operation of an entry that waits here, or of all: this tab makes no next attempt. */
  endWaiting(id: string | undefined, result: OperationResult): void {
    for (const one of id === undefined ? [...this.#waiting.keys()] : [id]) {
      const before = this.takeWaiting(one);
      if (before)
        this.#operations.begin('mutation', { attempt: before.attempt, before }).end(result);
    }
  }
}

/** The references in the variables of an entry. */
export interface EntryLinks {
  readonly rows: RowLinks;
  readonly begin: (
    definition: HandlerDefinition,
    variables: unknown,
  ) => Pick<Row, 'parents' | 'thing'>;
  readonly fill: (
    variables: unknown,
    entry: Row,
    codec: Codec,
    read: Backend['read'],
  ) => Promise<unknown>;
  /** The entry with the answers that are known: its scope is then that of one that is submitted with the real id. */
  readonly refresh: <R extends Unplaced>(
    entry: R,
    page: Pick<OutboxPage, 'codec' | 'handlers'>,
    read: Backend['read'],
  ) => Promise<R>;
}

/** An outbox in this page, whatever store its entries are in. */
export interface OutboxPage {
  /** Of the database, and so of its locks. */
  readonly name: string;
  /** On the wall. */
  readonly clock: Clock;
  readonly sender: SenderContext;
  readonly network: Network;
  readonly lock: TabPorts['lock'];
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly codec: Codec;
  /** So many attempts at once to one origin, at most. */
  readonly parallel: number;
  readonly receipts: Receipts;
  readonly memory: PageMemory;
  readonly pauses: Pauses;
  readonly display: Display;
  readonly others: OtherTabs;
  readonly links: EntryLinks | undefined;
  /** Which clear of all entries is under way, or has failed: nothing is sent meanwhile. */
  readonly clearing: () => string | undefined;
}

export interface EntryListener {
  readonly onChange: () => void;
  /** The turn of an entry has come, in this tab or another; `isUrged`: because a user wants it. */
  readonly onDue: (entry: Row, isUrged?: boolean) => void;
  /** Other entries have changed by the change of one: the turn of some has come, and some are dead with it. */
  readonly onFollow: (settled: Settled) => void;
  /** An end is written; `settled` is undefined where it was not ours to write any more. */
  readonly onEnd: (attempt: Attempt, settled: Settled | undefined) => void;
}
