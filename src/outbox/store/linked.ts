import type { DeadReason, Row } from './row.ts';
import type { Transaction } from './schema.ts';

/** Whether the answers that a row refers to are there: all, not yet, or (as things are) never. */
export type Readiness = 'ready' | 'waiting' | Extract<DeadReason, 'parent-dead' | 'answer-missing'>;

/** Rows that refer to the answers of others. Without `outboxLinks`, such a row waits for a tab that has them. */
export interface RowLinks {
  /** Results stay so long after the delivery, and so many. Without links: until their submitter has them, or so long. */
  readonly keepAnswersMs: number;
  readonly maxAnswers: number;
  /** The row that has this key, or (with links) had it. */
  readonly find: (tx: Transaction, key: string) => Promise<Row | undefined>;
  readonly check: (tx: Transaction, row: Partial<Row>) => Promise<Readiness>;
  /**
   * Brings the rows up to date that refer to this one, after it has changed or is gone. One that was dead for that
   * reason goes to `owner`. `answer` is that of this row, where it is new.
   *
   * @returns the rows that have changed.
   */
  readonly follow: (
    tx: Transaction,
    row: Row,
    owner: string | undefined,
    nowMs: number,
    answer?: { readonly data?: unknown },
  ) => Promise<readonly Row[]>;
  /** The row once its submitter has its result; undefined where nothing is kept of it. */
  readonly keepAnswer: (row: Row) => Row | undefined;
  /** Whether a row that is not over refers to this one. */
  readonly isNeeded: (tx: Transaction, row: Row) => Promise<boolean>;
}

/** A result waits so long for the tab that submitted. */
export const keepResultMs = 600_000;

/** No row is brought up to date, and one with references waits. */
export const noLinks: RowLinks = {
  keepAnswersMs: keepResultMs,
  maxAnswers: Infinity,
  find: rowById,
  check: async (_, { parents }) => (parents ? 'waiting' : 'ready'),
  follow: async () => [],
  keepAnswer: () => undefined,
  isNeeded: async () => false,
};

/** All the keys by which a row was known, its own first. */
export const keysOf = ({
  id,
  formerIds = [],
}: Pick<Row, 'id' | 'formerIds'>): readonly string[] => [id, ...formerIds];

/** The row that has this key, or had it. */
export async function rowByKey(tx: Transaction, key: string): Promise<Row | undefined> {
  return (await rowById(tx, key)) ?? (await tx.rows('formerIds', [key], 1))[0];
}

export async function rowById(tx: Transaction, id: string): Promise<Row | undefined> {
  return (await tx.rows('id', [id], 1))[0];
}

/** Whether the first row refers to the second. */
export const refersTo = (
  row: Pick<Row, 'parents'>,
  other: Pick<Row, 'id' | 'formerIds'>,
): boolean => !!row.parents && keysOf(other).some((key) => row.parents?.includes(key));
