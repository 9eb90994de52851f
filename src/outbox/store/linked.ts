import type { NewRow, Row } from './row.ts';
import type { Transaction } from './schema.ts';

/** The transitions of rows that refer to the answers of others. */
export interface RowLinks {
  /** Whether an answer that it refers to has come since it was made: its scope must name the real id. */
  readonly isOutdated: (tx: Transaction, row: NewRow) => Promise<boolean>;
  /** The row as it is while answers that it refers to are missing; undefined where it may go. */
  readonly hold: <R extends Row | NewRow>(tx: Transaction, row: R) => Promise<R | undefined>;
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
  /** Forgets a page of results that are old, or too many. @returns how many. */
  readonly sweep: (tx: Transaction, nowMs: number, limit: number) => Promise<number>;
}

/** A result waits so long for the tab that submitted. */
export const keepResultMs = 600_000;

/** Without `outboxLinks` a row with references waits for a tab that has them, and no answer is kept for others. */
export const noLinks: RowLinks = {
  isOutdated: async () => false,
  hold: async (_, row) => (row.parents ? { ...row, nextRetryAt: undefined } : undefined),
  follow: async () => [],
  keepAnswer: () => undefined,
  async sweep(tx, nowMs, limit) {
    const done = await tx.places('doneAt', [-Infinity, nowMs - keepResultMs - 1], limit);
    for (const seq of done) await tx.remove(seq);
    return done.length;
  },
};

/** All the keys by which a row was known, its own first. */
export const keysOf = ({
  id,
  formerIds = [],
}: Pick<Row, 'id' | 'formerIds'>): readonly string[] => [id, ...formerIds];

/** The row that has this key, or else had it before it was edited, sent anew or merged. */
export async function rowByKey(tx: Transaction, key: string): Promise<Row | undefined> {
  const [row] = await tx.rows('id', [key], 1);
  return row ?? (await tx.rows('formerIds', [key], 1))[0];
}

export const refersTo = (
  { parents }: Pick<Row, 'parents'>,
  other: Pick<Row, 'id' | 'formerIds'>,
): boolean => !!parents && keysOf(other).some((key) => parents.includes(key));
