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

/** The sender of an outbox. Durations are measured by the steady clock, and times are given by the wall clock. */
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
  /** The decision after a failure that another attempt follows. */
  readonly decision?: Decision;
  readonly onWritten?: () => void;
}

/** An attempt, from its start until its end is written. */
export interface UnderWay {
  readonly running: Running;
  readonly made: Promise<Attempt | undefined>;
}

/** The attempts of a page, whether its entries are on the disk or in the page. */
export class PageMemory {
  /** Handlers that have succeeded without sending a request through their context. */
  readonly foreign: Set<string> = new Set();
  /** The attempts that are under way, or whose ends could not be written yet. */
  readonly underWay: Map<string, UnderWay> = new Map();
  readonly tokens: Set<string> = new Set();
  readonly #operations: SenderContext['operations'];
  /** The operations of entries that wait here for their next attempt. */
  readonly #waiting: Map<string, HandedOver> = new Map();

  constructor(operations: SenderContext['operations']) {
    this.#operations = operations;
  }

  wait(id: string, before: HandedOver): void {
    this.#waiting.set(id, before);
  }

  /** Called when the next attempt begins. @returns the operation that continues. */
  takeWaiting(id: string): HandedOver | undefined {
    const before = this.#waiting.get(id);
    this.#waiting.delete(id);
    return before;
  }

  /** Ends the operation of an entry that waits here, or all of them, because this tab makes no further attempt. */
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
  /** Fills known answers into an entry. It then gets the scope that the real id gives it. */
  readonly refresh: <R extends Unplaced>(
    entry: R,
    page: Pick<OutboxPage, 'codec' | 'handlers'>,
    read: Backend['read'],
  ) => Promise<R>;
}

/** The outbox of this page, whether its entries are on the disk or in the page. */
export interface OutboxPage {
  /** The name of the database and of its locks. */
  readonly name: string;
  /** The wall clock. */
  readonly clock: Clock;
  readonly sender: SenderContext;
  readonly network: Network;
  readonly lock: TabPorts['lock'];
  readonly handlers: ReadonlyMap<string, HandlerDefinition>;
  readonly codec: Codec;
  /** The most attempts at once to one origin. */
  readonly parallel: number;
  readonly receipts: Receipts;
  readonly memory: PageMemory;
  readonly pauses: Pauses;
  readonly display: Display;
  readonly others: OtherTabs;
  readonly links: EntryLinks | undefined;
  /** The clear that is under way, or has failed; nothing is sent meanwhile. */
  readonly clearing: () => string | undefined;
}

export interface EntryListener {
  readonly onChange: () => void;
  /** Called when an entry is due, in this tab or another. `isUrged`: a user wants it now. */
  readonly onDue: (entry: Row, isUrged?: boolean) => void;
  /** Called when the end of one entry has made others due, or dead. */
  readonly onFollow: (settled: Settled) => void;
  /** Called when an end was written. `settled` is undefined if another tab had taken the entry over. */
  readonly onEnd: (attempt: Attempt, settled: Settled | undefined) => void;
}
