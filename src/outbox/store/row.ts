/** Why a row needs a user. */
export type DeadReason =
  /** A retry would get the same answer: 400, 404, 422 and so on. */
  | 'refused'
  /** The entry may have been done, and a retry could do it twice. */
  | 'not-repeatable'
  /** The entry was done, but its answer could not be read. */
  | 'answer-lost'
  /** The entry may have been done, and its API may have forgotten its key. */
  | 'expired'
  /** The entry may have been done, and the age of its key is not known, because the clock was set back. */
  | 'age-unknown'
  /** The entry may have been done, and its API answers its key with a stored failure, so a retry does not find out. */
  | 'cannot-find-out'
  /** The entry would undo a later write to its URL. */
  | 'superseded'
  /** The app's own limits: `maxAttempts` and `maxAgeMs`. */
  | 'max-attempts'
  | 'max-age'
  /** No handler has its name. It is delivered once there is one. */
  | 'handler-missing'
  /** `migrate` threw, or is missing. */
  | 'not-migrated'
  /** The browser cannot read it any more, it cannot be decrypted, or what is kept of it is damaged. */
  | 'unreadable'
  /** The entry refers to the answer of a dead letter, and is sent after that one. */
  | 'parent-dead'
  /** The answer that it refers to does not exist: it was discarded or forgotten, or has no such field. */
  | 'answer-missing';

/** Whether an entry is dead because it lacks the answer of another one. */
export const lacksAnswer = (reason: DeadReason | undefined): boolean =>
  reason === 'parent-dead' || reason === 'answer-missing';

/** The error of an attempt, without headers and bodies. */
export interface RowError {
  readonly name: string;
  readonly message: string;
  readonly status?: number | undefined;
}

export interface Tried {
  /** How many attempts were about to send a request, or failed without one. Attempts that were only paused do not count. */
  readonly attempts: number;
  /** How often it was claimed. Only the latest claim may write its end. */
  readonly claims: number;
  /** When the last attempt failed; while one is under way, when it began. */
  readonly lastAttemptAt?: number | undefined;
  /** How many attempts have timed out. The next one has a longer limit. */
  readonly timeouts: number;
  /** How many attempts in a row were told that an earlier one is still running. */
  readonly conflicts: number;
  readonly lastError?: RowError | undefined;
  readonly isInDoubt: boolean;
  /** The latest attempt has sent it without a key, because its API takes none. */
  readonly isUnkeyed: boolean;
  /** True if the entry was sent before it was stored here, so that not all of its requests are known. */
  readonly isRestored: boolean;
  /** A user has sent it again: a step that was definitely refused gets a new key. */
  readonly isRedriven: boolean;
  /** How often a user has sent it again under its key while its outcome was unknown. */
  readonly redrives: number;
  /** The requests that may have been sent, with their bytes, as the codec stores them. */
  readonly steps?: unknown;
  /** True if the variables can no longer be read: see `setAside`. */
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
  /** The place of the row in the order in which all rows were committed. */
  readonly seq: number;
  readonly id: string;
  readonly handler: string;
  readonly version: number;
  readonly variables: unknown;
  /** In epoch milliseconds, as all times. */
  readonly createdAt: number;
  /** How far the steady clock of its page was ahead of `createdAt`, because the wall clock was set back before. */
  readonly aheadMs?: number | undefined;
  /** Entries of one scope are sent one after the other, the oldest first. */
  readonly scope?: string | undefined;
  /** The handler and the origin; only the handler until the origin is known. */
  readonly lane: string;
  /** The keys of the entries whose answers its variables refer to. */
  readonly parents?: readonly string[] | undefined;
  /** The earlier keys of the entry. */
  readonly formerIds?: readonly string[] | undefined;
  /** The name of the thing that it changes. Later changes of it may be merged with this one. */
  readonly thing?: string | undefined;
}

/** The fields of a row that is to be sent, or is being sent, by the tab that has its owner. */
interface Live {
  readonly owner: string;
  /** The scope that waits for it. */
  readonly blocks?: string | undefined;
  /** Undefined while it waits behind its scope. */
  readonly nextRetryAt?: number | undefined;
  /** When the server allows it at the earliest. A success of its origin does not make it due before that. */
  readonly notBefore?: number | undefined;
}

interface Waiting extends Live {
  readonly state: 'pending';
}

interface Sending extends Live {
  readonly state: 'sending';
}

/** A row that belongs to no tab, and blocks its scope, until a tab comes that understands it. */
interface Foreign {
  readonly state: 'pending';
  readonly waitsFor: 'other-version';
  readonly blocks?: string | undefined;
}

interface Dead {
  readonly state: 'dead';
  readonly deadReason: DeadReason;
  /** The scope that waits for the user's decision. */
  readonly blocks?: string | undefined;
}

interface Done {
  readonly state: 'done';
  readonly doneAt: number;
  readonly result: unknown;
  /** True if the submitter has the result. The row is kept because other entries refer to its answer. */
  readonly isRead?: boolean | undefined;
}

type States = Waiting | Sending | Foreign | Dead | Done;
type FieldOf<S> = S extends unknown ? keyof S : never;
/** A state without the fields of the others. */
type Only<S> = S extends unknown
  ? S & { readonly [K in Exclude<FieldOf<States>, keyof S>]?: undefined }
  : never;

/** A submission as it is stored. */
export type Row = Submitted & Only<States>;
export type SendingRow = Row & { readonly state: 'sending' };

/** Clears the fields of all states: a new state begins with these. */
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

/** The states on the disk. A paused entry is `sending` there. */
export type RowState = Row['state'];

type Without<R, K> = R extends unknown ? Omit<R, K & keyof R> : never;
export type NewRow = Without<Row, 'seq'>;
export type Unplaced = Without<NewRow, 'owner'>;

/** The same, for another database. */
export function unplace(row: Row): Unplaced {
  const { seq: _, owner: __, ...unplaced } = row;
  return unplaced;
}

/** Neither a URL nor the name of a handler contains a line break. */
const separator = '\n';

/** The lane of an entry: its handler and, once it is known, its origin. */
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
