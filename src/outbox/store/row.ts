/** Why a row needs a user. */
export type DeadReason =
  /** The answer would be the same again: 400, 422, 404 and their like. */
  | 'refused'
  /** It may have been done, and sent once more it could be done twice. */
  | 'not-repeatable'
  /** It has been done, but its answer could not be read. */
  | 'answer-lost'
  /** It may have been done, and its key is older than its API keeps one. */
  | 'expired'
  /** It may have been done, and the age of its key is not known: the clock was set back since another page made it. */
  | 'age-unknown'
  /** It may have been done, and sent again under its key, that was not found out: its API gives a stored failure. */
  | 'cannot-find-out'
  /** A later write to its URL was sent, which it would undo. */
  | 'superseded'
  /** The app's own limits, `maxAttempts` and `maxAgeMs`. */
  | 'max-attempts'
  | 'max-age'
  /** No handler has its name: delivered once one has. */
  | 'handler-missing'
  /** `migrate` threw, or there is none. */
  | 'not-migrated'
  /** The browser cannot read it any more, it cannot be decrypted, or what is kept of it is damaged. */
  | 'unreadable'
  /** An entry whose answer it refers to is a dead letter: it goes once that goes. */
  | 'parent-dead'
  /** The answer that it refers to is not known: that was discarded or forgotten, never was, or has no such field. */
  | 'answer-missing';

/** Whether an entry is dead because the answer of another one is missing. */
export const lacksAnswer = (reason: DeadReason | undefined): boolean =>
  reason === 'parent-dead' || reason === 'answer-missing';

/** The outcome of an attempt, without headers and bodies. */
export interface RowError {
  readonly name: string;
  readonly message: string;
  readonly status?: number | undefined;
}

export interface Tried {
  /** Those of which a request was about to go, or that have failed without one; not those that were only paused. */
  readonly attempts: number;
  /** How often it was taken to be sent: an end is written by the tab that has taken it last. */
  readonly claims: number;
  /** When the last attempt has failed; while one is under way, when that began. */
  readonly lastAttemptAt?: number | undefined;
  /** So many attempts have timed out: the next one has longer. */
  readonly timeouts: number;
  /** So many of the last attempts in a row were answered that an earlier one is still running. */
  readonly conflicts: number;
  readonly lastError?: RowError | undefined;
  readonly isInDoubt: boolean;
  /** The attempt that was begun last has sent it without a key, because its API honours none. */
  readonly isUnkeyed: boolean;
  /** It was sent before it was kept here: what is known of its requests is not all. */
  readonly isRestored: boolean;
  /** A user has sent it again: what was definitely refused takes a fresh key. */
  readonly isRedriven: boolean;
  /** So often a user has sent it again under its key, when it was not known whether it was done. */
  readonly redrives: number;
  /** The requests that may have been sent, with their bytes, as the codec keeps them. */
  readonly steps?: unknown;
  /** Its variables can no longer be read: see `setAside`. */
  readonly isGone: boolean;
}

export const untried: Tried = {
  attempts: 0,
  claims: 0,
  lastAttemptAt: undefined,
  timeouts: 0,
  conflicts: 0,
  lastError: undefined,
  isInDoubt: false,
  isUnkeyed: false,
  isRestored: false,
  isRedriven: false,
  redrives: 0,
  steps: undefined,
  isGone: false,
};

interface Submitted extends Tried {
  /** Its place among all: the order in which they were committed. */
  readonly seq: number;
  readonly id: string;
  readonly handler: string;
  readonly version: number;
  readonly variables: unknown;
  /** In epoch milliseconds, as all times. */
  readonly createdAt: number;
  /** How far the clock of its page was ahead of that, because that was set back before. */
  readonly aheadMs?: number | undefined;
  /** Those with the same are sent one after the other, the oldest first. */
  readonly scope?: string | undefined;
  /** Those that are sent to the same origin by the same handler; only the latter before it is known. */
  readonly lane: string;
  /** The keys of the entries whose answers its variables refer to. */
  readonly parents?: readonly string[] | undefined;
  /** The keys that it has had before. */
  readonly formerIds?: readonly string[] | undefined;
  /** The name of the thing that it changes. Later changes of the same thing may be merged with it. */
  readonly thing?: string | undefined;
}

/** To be sent, or being sent, by the tab that has its owner. */
interface Live {
  readonly owner: string;
  /** The scope that waits for it. */
  readonly blocks?: string | undefined;
  /** Undefined while it waits behind its scope. */
  readonly nextRetryAt?: number | undefined;
  /** The server has said when: a success of its origin draws it no nearer than this. */
  readonly notBefore?: number | undefined;
}

interface Waiting extends Live {
  readonly state: 'pending';
}

interface Sending extends Live {
  readonly state: 'sending';
}

/** It belongs to no tab, and holds its scope up, until one comes that understands it. */
interface Foreign {
  readonly state: 'pending';
  readonly waitsFor: 'other-version';
  readonly blocks?: string | undefined;
}

interface Dead {
  readonly state: 'dead';
  readonly deadReason: DeadReason;
  /** The scope that waits until a user has decided. */
  readonly blocks?: string | undefined;
}

interface Done {
  readonly state: 'done';
  readonly doneAt: number;
  readonly result: unknown;
  /** Its submitter has the result: it is kept as the answer that others refer to. */
  readonly isRead?: boolean | undefined;
}

type States = Waiting | Sending | Foreign | Dead | Done;
type FieldOf<S> = S extends unknown ? keyof S : never;
/** A state without the fields of the others. */
type Only<S> = S extends unknown
  ? S & { readonly [K in Exclude<FieldOf<States>, keyof S>]?: undefined }
  : never;

/** A submission as it is kept. */
export type Row = Submitted & Only<States>;
export type SendingRow = Row & { readonly state: 'sending' };

/** No field of a state: another state begins with these. */
export const stateless: Readonly<Record<Exclude<FieldOf<States>, 'state'>, undefined>> = {
  owner: undefined,
  blocks: undefined,
  nextRetryAt: undefined,
  notBefore: undefined,
  waitsFor: undefined,
  deadReason: undefined,
  doneAt: undefined,
  result: undefined,
  isRead: undefined,
};

/** The states on the disk: an entry that is paused is `sending` there. */
export type RowState = Row['state'];

type Without<R, K> = R extends unknown ? Omit<R, K & keyof R> : never;
export type NewRow = Without<Row, 'seq'>;
export type Unplaced = Without<NewRow, 'owner'>;

/** The same, for another database. */
export function unplace(row: Row): Unplaced {
  const { seq: _, owner: __, ...unplaced } = row;
  return unplaced;
}

/** Neither of them can have a line break in a URL, nor has the name of a handler any. */
const separator = '\n';

/** The lane of an entry: its handler and, once it is known, the origin that it goes to. */
export const laneOf = (handler: string, origin?: string): string =>
  origin === undefined ? handler : `${handler}${separator}${origin}`;

export const splitLane = (lane: string): [handler: string, origin: string | undefined] =>
  lane.split(separator, 2) as [string, string | undefined];

export const originOfLane = (lane: string): string | undefined => splitLane(lane)[1];

/**
 * Takes the place of a row that the browser cannot read any more, with what its indexes know of it: it holds nothing
 * up.
 */
export function setAside(
  seq: number,
  known: Partial<Row>,
  nowMs: number,
): Row & { readonly state: 'dead' | 'done' } {
  const { id = `unreadable ${seq}`, handler = '', blocks: scope, doneAt } = known;
  const left = {
    ...untried,
    ...stateless,
    seq,
    id,
    handler,
    version: 1,
    variables: undefined,
    createdAt: nowMs,
    scope,
    lane: laneOf(handler),
    isGone: true,
  };
  return doneAt !== undefined
    ? { ...left, state: 'done', doneAt }
    : {
        ...left,
        state: 'dead',
        deadReason: 'unreadable',
        isInDoubt: true,
        lastError: { name: 'Error', message: 'It cannot be read any more.' },
      };
}
