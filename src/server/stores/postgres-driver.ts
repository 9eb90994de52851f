import { rejectValue } from '../../core/lib/input/check.ts';
import { lendHandle } from './lend.ts';
import { LeaseOverError } from './store.ts';

type Value = string | number | Uint8Array;

/** A connection of `pg`. */
interface PgClient {
  query(sql: string, values?: Value[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'error', listener: (error: Error) => void): unknown;
  release(isBroken?: boolean): void;
}

/** The part of a `Pool` of `pg` that the store uses. */
export interface PgPool<Client> {
  query(sql: string, values?: Value[]): Promise<{ rows: unknown[]; rowCount: number | null }>;
  // Both overloads in the order of `pg`, because TypeScript infers the client from the pair.
  connect(): Promise<Client>;
  connect(
    callback: (
      error: Error | undefined,
      client: Client | undefined,
      done: (isBroken?: boolean) => void,
    ) => void,
  ): void;
}

/** The part of postgres.js that the store uses, outside or inside a transaction. */
interface UnsafeSql {
  unsafe(sql: string, values?: Value[]): PromiseLike<unknown[] & { readonly count: number }>;
}

/** The part of postgres.js's `sql` that the store uses. */
export interface PostgresJs<Tx> extends UnsafeSql {
  // Both overloads in the order of postgres.js, because TypeScript infers the transaction from the pair.
  begin(work: (tx: Tx) => Promise<unknown>): Promise<unknown>;
  begin(options: string, work: (tx: Tx) => Promise<unknown>): Promise<unknown>;
}

interface Result {
  readonly rows: readonly unknown[];
  /** The number of rows found or changed. Of what has no rows, `pg` says null. */
  readonly count: number | null;
}

type Query = (sql: string, values?: Value[]) => Promise<Result>;

/** The driver interface of the store. */
export interface PostgresDriver<Tx> {
  /** Runs one statement in its own transaction. */
  readonly query: Query;
  /**
   * Runs work in a transaction, and commits it if the work resolves with true. `tx` throws once the
   * transaction has ended. After a LeaseOverError the handler may still run: it is not waited for.
   */
  readonly transact: (
    begin: string,
    work: (tx: Tx, query: Query) => Promise<boolean>,
  ) => Promise<boolean>;
}

/** @throws TypeError unless it is a pool of one of the two drivers. */
export function driverOf<Tx>(database: PgPool<Tx> | PostgresJs<Tx>): PostgresDriver<Tx> {
  const { unsafe, connect } = Object(database) as Partial<PostgresJs<Tx> & PgPool<Tx>>;
  if (unsafe) return createPostgresJsDriver(database as PostgresJs<Tx>);
  if (connect) return createPgDriver(database as PgPool<Tx>);
  const allowed = 'a Pool of pg, or the sql of postgres.js';
  return rejectValue('postgresStore', 'its first argument', database, allowed);
}

const ignore = (): void => {};

function createPgDriver<Tx>(pool: PgPool<Tx>): PostgresDriver<Tx> {
  const queryOf =
    (database: Pick<PgClient, 'query'>): Query =>
    async (sql, values) => {
      const { rows, rowCount } = await database.query(sql, values);
      return { rows, count: rowCount };
    };
  return {
    query: queryOf(pool),
    async transact(begin, work) {
      const client = (await pool.connect()) as Tx & PgClient;
      // Without a listener, a connection that breaks would end the process.
      client.on('error', ignore);
      const { tx, takeBack } = lendHandle(client, 'postgresStore');
      let isReusable = false;
      try {
        await client.query(`BEGIN; ${begin}`);
        const isKept = await work(tx, queryOf(client)).finally(takeBack);
        await client.query(isKept ? 'COMMIT' : 'ROLLBACK');
        isReusable = true;
        return isKept;
      } catch (error) {
        // A ROLLBACK would wait for the handler's running statement. Closing the connection does not.
        if (!(error instanceof LeaseOverError))
          await client.query('ROLLBACK').then(() => (isReusable = true), ignore);
        throw error;
      } finally {
        client.off('error', ignore);
        client.release(!isReusable);
      }
    },
  };
}

function createPostgresJsDriver<Tx>(sql: PostgresJs<Tx>): PostgresDriver<Tx> {
  const queryOf =
    (database: UnsafeSql): Query =>
    async (text, values) => {
      const rows = await database.unsafe(text, values);
      return { rows, count: rows.count };
    };
  return {
    query: queryOf(sql),
    async transact(begin, work) {
      const undone = new Error('postgresStore: rolled back');
      let giveUp: (error: LeaseOverError) => void = ignore;
      const givenUp = new Promise<never>((_, reject) => (giveUp = reject));
      const ended = sql.begin(async (own) => {
        const handle = own as Tx & UnsafeSql;
        const { tx, takeBack } = lendHandle(handle, 'postgresStore');
        try {
          await handle.unsafe(begin);
          if (!(await work(tx, queryOf(handle)))) throw undone;
        } catch (error) {
          // The ROLLBACK waits for the handler's running statement.
          if (error instanceof LeaseOverError) giveUp(error);
          throw error;
        } finally {
          takeBack();
        }
      });
      try {
        await Promise.race([ended, givenUp]);
        return true;
      } catch (error) {
        if (error !== undone) throw error;
        return false;
      }
    },
  };
}
