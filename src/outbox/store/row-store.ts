import type { PausedEntries } from '../messages.ts';
import type { DeadReason, Fence, NewRow, OwnerRecord, Row, RowError, RowState } from './schema.ts';

/** What an attempt has come to. */
export type Change =
  /** Once more, at that time. */
  | (Tried & { readonly kind: 'again' } & Required<Pick<Row, 'nextRetryAt' | 'plannedAt'>> &
      Partial<Pick<Row, 'lane' | 'notBefore'>>)
  /** Delivered. Nothing is kept where whoever submitted it knows already. */
  | { readonly kind: 'done'; readonly result: unknown; readonly isKept: boolean }
  | (Tried & {
      readonly kind: 'dead';
      readonly reason: DeadReason;
      /** Those of its scope wait until a user has decided. */
      readonly isBlocking: boolean;
    })
  /** This version of the app does not understand it: it waits for a later one. Nothing was tried. */
  | { readonly kind: 'too-new' };

/** What is known after an attempt that was not good. */
interface Tried {
  readonly error: RowError | undefined;
  /** Those that were really made. */
  readonly attempts: number;
  /** So many of them, as far as that has changed, have sent nothing. */
  readonly unsent?: number;
  /** So many of them, as far as that has changed, have timed out. */
  readonly timeouts?: number;
  readonly isInDoubt: boolean;
  readonly steps?: unknown;
}

/** A row that is sent now, or which other one of its scope comes first. */
interface Claim {
  readonly row: Row | undefined;
  /** Its turn has come instead. */
  readonly next: Row | undefined;
}

/** What must be known of a row before a request of it goes. */
type SentNote = Pick<Row, 'steps' | 'isUnkeyed' | 'isRedriven' | 'noted'>;

/** What has become of the rows. */
export interface Settled {
  /** The row as it is now; undefined when nothing is kept of it. */
  readonly row: Row | undefined;
  /** The next one of its scope, whose turn has come. */
  readonly next: Row | undefined;
}

/** A row that is to be sent now, and the next one of the scope that it has left. */
export interface Revived extends Settled {
  readonly row: Row;
}

/** What is due in a lane. */
interface DueInLane {
  readonly lane: string;
  /** The places of the rows that are due: so many at most, the first due first. */
  readonly due: readonly number[];
  /** When the next one is. */
  readonly nextAt: number | undefined;
}

/** How many rows there are of each kind. */
export interface Counts {
  /** To be sent now. */
  readonly due: number;
  /** To be sent later, or after the older ones of their scope. */
  readonly waiting: number;
  /** On their way, and not paused. */
  readonly sending: number;
  /** Their attempts have begun, and wait before they are sent: see `pause` of an entry. */
  readonly paused: number;
  /** They need a user. */
  readonly dead: number;
  /** When the oldest of them was submitted, in epoch milliseconds. */
  readonly oldestAt: number | undefined;
}

/** So many rows are read or removed at once: more would hold up the page, and the other tabs. */
export const pageSize = 100;

/** What a database says of itself. */
export interface About {
  readonly generation: string;
  readonly clears: readonly string[];
}

/** What can be done with the rows: each is one transaction. */
export interface RowStore {
  readonly isDurable: boolean;
  /**
   * Keeps a row, and resolves once it is kept. One that has its id already stays, and comes back. `known` are
   * the clears that the page has heard of, where the row may be older than another.
   *
   * @returns `lost` when the owner is no longer of this tab, `cleared` after a clear that is not known.
   */
  readonly add: (
    row: NewRow,
    fence: Fence,
    nowMs: number,
    known?: ReadonlySet<string>,
  ) => Promise<Row | 'lost' | 'cleared'>;
  /** Takes a row out, unless it is being sent or is over. @returns it; undefined when it stays. */
  readonly takeOut: (id: string) => Promise<Row | undefined>;
  /**
   * @returns a name that no other database has, also not one that is made anew after this was deleted, and the
   *   latest clears that were done in it.
   */
  readonly identify: () => Promise<About>;
  /**
   * Takes a row that is due, to send it now.
   *
   * @returns `lost` when the owner is no longer of this tab; no row when it is not its turn.
   */
  readonly claim: (seq: number, fence: Fence, nowMs: number) => Promise<Claim | 'lost'>;
  /**
   * Notes of a row that was claimed what a request of it is, before that goes.
   *
   * @returns false when it may not go: the row is no longer of this tab.
   */
  readonly note: (claimed: Row, fence: Fence, note: SentNote) => Promise<boolean>;
  /**
   * Enters what has become of a row that was claimed.
   *
   * @returns undefined when it is no longer of this tab, or a user has discarded it.
   */
  readonly settle: (
    claimed: Row,
    fence: Fence,
    change: Change,
    nowMs: number,
  ) => Promise<Settled | undefined>;
  /**
   * What of an owner is due in each lane, and when the next one is. Of a row that was written in what is
   * now the future, because the clock was set back meanwhile, the wait is over; what the server has told
   * to wait does so anew.
   */
  readonly due: (fence: Fence, nowMs: number, limit: number) => Promise<readonly DueInLane[]>;
  /**
   * What waits in a lane for longer than `mostMs`, and for no reason of the server, goes after `delayMs`,
   * which is no longer than that.
   */
  readonly wake: (
    fence: Fence,
    lane: string,
    nowMs: number,
    mostMs: number,
    delayMs: () => number,
  ) => Promise<unknown>;
  /** The clock was set back by so long: what an owner waits for comes no later for it. */
  readonly setBack: (fence: Fence, nowMs: number, byMs: number) => Promise<unknown>;
  /** Whether there are rows that nobody would look for. */
  readonly hasStrays: () => Promise<boolean>;
  /** Takes them. @returns whether there were any. */
  readonly adoptStrays: (fence: Fence, nowMs: number) => Promise<boolean>;
  readonly owners: () => Promise<readonly OwnerRecord[]>;
  /**
   * Takes the rows of an owner that is dead, and had this token.
   *
   * @returns false when it has none, or another was first.
   */
  readonly adopt: (fence: Fence, from: string, nowMs: number) => Promise<boolean>;
  /** The tab that has this owner shows that it lives. @returns false when another has taken over. */
  readonly sign: (fence: Fence, signedAt: number) => Promise<boolean>;
  /** Forgets an owner that has nothing to send. @returns whether it is forgotten. */
  readonly abandon: (fence: Fence) => Promise<boolean>;
  /** Whether a row of the scope is being sent: known at once of what is in this page alone. */
  readonly isSending: (scope: string) => boolean;
  /** Whether a row of the scope is not over, and holds those behind it up. */
  readonly isBlocked: (scope: string) => Promise<boolean>;
  readonly find: (id: string) => Promise<Row | undefined>;
  /** Rows in the order of their places, after one of them: all, or those with this key of an index. */
  readonly list: (
    key: RowState | DeadReason | 'other-version' | undefined,
    after: number,
    limit: number,
    index?: 'state' | 'deadReason' | 'waitsFor',
  ) => Promise<readonly Row[]>;
  readonly count: (nowMs: number, pauses: PausedEntries) => Promise<Counts>;
  /**
   * A row is to be sent now, by this tab: one that waits for its time, whichever tab had it, or a dead one.
   * `change` makes another of it, maybe of another scope.
   *
   * @returns the row as it is now, and whose turn has come by that; undefined when it is none of them, `lost`
   *   when the owner is no longer of this tab.
   */
  readonly revive: (
    id: string,
    fence: Fence,
    nowMs: number,
    change?: (row: Row) => Row,
  ) => Promise<Revived | 'lost' | undefined>;
  /** Forgets a row, whatever it is at. @returns what it was; undefined when there is none. */
  readonly discard: (id: string, nowMs: number) => Promise<(Settled & { row: Row }) | undefined>;
  /** Who submitted it knows its result. */
  readonly acknowledge: (id: string) => Promise<unknown>;
  /** Forgets results that nobody has asked for. @returns whether there are others. */
  readonly sweep: (beforeMs: number) => Promise<boolean>;
  /** Forgets all rows, once for each token: several tabs may be asked to. */
  readonly clear: (token: string) => Promise<unknown>;
  readonly close: () => void;
}

/** Rows in the order of their places, of which `load` reads a page at a time. */
export async function* pagesOf(
  load: (after: number, limit: number) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  for (let after = 0; ;) {
    const page = await load(after, pageSize);
    yield* page;
    const last = page.at(-1);
    if (!last || page.length < pageSize) return;
    after = last.seq;
  }
}
