import { sqliteStore, type StoredAnswer } from 'steadfetch/server';
import { postgresStore } from 'steadfetch/server/postgres';
import { describe, expect, test } from 'vitest';
import { claim } from './claim.ts';

const answer: StoredAnswer = { status: 200, headers: [], body: new Uint8Array() };

/** A pool of pg whose client has more than the store needs, and writes down what it is sent. */
function openPg(more: object = {}) {
  const sent: unknown[] = [];
  const client = {
    query: async (sql: unknown) => {
      sent.push(sql);
      return { rows: [], rowCount: 1 };
    },
    on: () => {},
    off: () => {},
    release: () => {},
    ...more,
  };
  const pool = { query: async () => ({ rows: [], rowCount: 1 }), connect: async () => client };
  const store = postgresStore(pool as never);
  /** Runs a handler, and tells what it was refused with. */
  const run = async (handle: (tx: typeof client) => unknown): Promise<string> =>
    store
      .run(claim, async (tx) => {
        await handle(tx as never);
        return answer;
      })
      .then(
        () => 'done',
        (error: unknown) => (error as Error).message,
      );
  return { client, run, sent };
}

/** The sql of postgres.js: a function that takes templates, and values. */
function openPostgresJs() {
  const sent: unknown[] = [];
  const tx = Object.assign(
    (first: unknown) => {
      sent.push(first);
      return Promise.resolve([]);
    },
    {
      unsafe: async () => Object.assign([], { count: 1 }),
      // postgres.js takes a name before the work, or none.
      savepoint: async (...given: unknown[]) => (given.at(-1) as (part: unknown) => unknown)(part),
    },
  );
  const part = Object.assign((first: unknown) => tx(first), { unsafe: tx.unsafe });
  const sql = {
    unsafe: tx.unsafe,
    begin: (work: (own: typeof tx) => Promise<unknown>) => work(tx),
  };
  const store = postgresStore(sql as never);
  const run = async (handle: (own: (first: unknown, ...rest: unknown[]) => unknown) => unknown) =>
    store
      .run(claim, async (own) => {
        await handle(own as never);
        return answer;
      })
      .then(
        () => 'done',
        (error: unknown) => (error as Error).message,
      );
  return { run, sent };
}

const template = (...parts: string[]): TemplateStringsArray => Object.assign(parts, { raw: parts });

const refused = (statement: string): string =>
  `postgresStore: tx is a transaction already, and ends with the answer. ${statement} is not sent. ` +
  'Use SAVEPOINT and ROLLBACK TO for a part that may fail.';

describe('what begins or ends a transaction', () => {
  test.each([
    ['BEGIN', 'BEGIN'],
    ['START  TRANSACTION READ ONLY', 'START  TRANSACTION'],
    ['START/**/TRANSACTION', 'START TRANSACTION'],
    [';; commit', 'commit'],
    ['END', 'END'],
    ['ABORT', 'ABORT'],
    ['ROLLBACK', 'ROLLBACK'],
    ['ROLLBACK WORK', 'ROLLBACK'],
    ['ROLLBACK AND CHAIN', 'ROLLBACK'],
    ["PREPARE  TRANSACTION 'a'", 'PREPARE  TRANSACTION'],
    ["SELECT 'it''s'; COMMIT", 'COMMIT'],
    ["SELECT E'it\\'s'; COMMIT; SELECT 'a'", 'COMMIT'],
    ["SELECT e'\\\\'; COMMIT; SELECT ''", 'COMMIT'],
    ["SELECT the'\\'; COMMIT; SELECT ''", 'COMMIT'],
    ['SELECT ""; COMMIT', 'COMMIT'],
    ['SELECT $$a$$; COMMIT; SELECT $$b$$', 'COMMIT'],
    ['SELECT $a$ $b$ $a$; COMMIT -- $b$', 'COMMIT'],
    ['SELECT $1; COMMIT', 'COMMIT'],
    ['/* one */ COMMIT /* two */', 'COMMIT'],
    ['-- one\n-- two\nCOMMIT', 'COMMIT'],
    ['--\nCOMMIT', 'COMMIT'],
  ])('is refused: %j', async (sql, named) => {
    const { run, sent } = openPg();
    expect(await run((tx) => tx.query(sql))).toBe(refused(named));
    expect(await run((tx) => tx.query({ text: sql }))).toBe(refused(named));
    const own = ['BEGIN; ', 'ROLLBACK'];
    expect(sent).toEqual([...own, ...own]);
  });

  test.each([
    'SAVEPOINT one',
    'ROLLBACK TO one',
    'ROLLBACK  TO SAVEPOINT one',
    'rollback work  to one',
    'ROLLBACK  TRANSACTION TO one',
    'PREPARE transactions AS SELECT 1',
    "INSERT INTO a VALUES ('one; COMMIT')",
    "INSERT INTO a VALUES ('it''s; COMMIT')",
    "INSERT INTO a VALUES (E'it\\'s; COMMIT')",
    "INSERT INTO a VALUES (e'a''\\'; COMMIT')",
    "INSERT INTO a VALUES ('\\', '; COMMIT')",
    "INSERT INTO a VALUES ('')",
    'SELECT 1 AS "one; COMMIT"',
    'SELECT 1 AS "one""; COMMIT"',
    'SELECT $$one; COMMIT$$',
    "SELECT $ab$'$$; COMMIT$ab$",
    'SELECT 1 -- one; COMMIT',
    'SELECT 1 /* one\n; COMMIT */',
    'SELECT the_end FROM a',
  ])('is not this: %j', async (sql) => {
    const { run, sent } = openPg();
    expect(await run((tx) => tx.query(sql))).toBe('done');
    expect(await run((tx) => tx.query({ text: sql }))).toBe('done');
    expect(sent.filter((one) => one === sql)).toEqual([sql]);
  });

  test.each(['query', 'unsafe', 'exec', 'prepare'])(
    'is refused by every method that takes SQL: %s',
    async (method) => {
      const { run } = openPg({ [method]: async () => ({ rows: [], rowCount: 1 }) });
      const call = (first: unknown) => (tx: object) =>
        (tx as Record<string, (first: unknown) => unknown>)[method]?.(first);
      expect(await run(call('COMMIT'))).toBe(refused('COMMIT'));
      expect(await run(call('SELECT 1'))).toBe('done');
    },
  );

  test('is text like any other where no SQL is taken', async () => {
    const written: unknown[] = [];
    const { run } = openPg({ write: (text: unknown) => void written.push(text) });
    const write = (tx: object) => (tx as { write: (text: string) => void }).write('COMMIT');
    expect(await run(write)).toBe('done');
    expect(written).toEqual(['COMMIT']);
  });

  test('is refused in a template, wherever a value stands in it', async () => {
    const { run, sent } = openPostgresJs();
    expect(await run((sql) => sql(template('COMMIT')))).toBe(refused('COMMIT'));
    expect(await run((sql) => sql(template('COMMIT', 'WORK'), 1))).toBe(refused('COMMIT'));
    expect(await run((sql) => sql(template('ROLLBACK', 'TO'), 'one'))).toBe('done');
    expect(await run((sql) => sql(template('SELECT ', '; COMMIT'), 1))).toBe(refused('COMMIT'));
    expect(sent).toEqual([template('ROLLBACK', 'TO')]);
  });

  test.each<[string, unknown]>([
    ['a row', { text: 'Begin here' }],
    ['a list', ['COMMIT', 'END']],
    ['a name', 'end'],
    ['undefined', undefined],
  ])('is no value that a template is given: %s', async (_, value) => {
    const { run, sent } = openPostgresJs();
    expect(await run((sql) => sql(value))).toBe('done');
    expect(sent).toEqual([value]);
  });
});

describe('the part of postgres.js that may fail', () => {
  type Part = ((text: unknown) => unknown) & { readonly unsafe: (text: string) => unknown };
  type Tx = { readonly savepoint: (...given: unknown[]) => Promise<unknown> };
  const inPart =
    (work: (part: Part) => unknown, ...name: string[]) =>
    (tx: unknown) =>
      (tx as Tx).savepoint(...name, work);

  test.each([
    ['a template', (part: Part) => part(template('COMMIT'))],
    ['unsafe', (part: Part) => part.unsafe('COMMIT')],
  ])('ends the transaction as little as tx does: %s', async (_, use) => {
    const { run, sent } = openPostgresJs();
    expect(await run(inPart(use))).toBe(refused('COMMIT'));
    expect(await run(inPart(use, 'name'))).toBe(refused('COMMIT'));
    expect(sent).toEqual([]);
  });

  test('takes every other statement, and gives what it gives', async () => {
    const { run, sent } = openPostgresJs();
    const select = template('SELECT 1');
    expect(await run(inPart((part) => part(select)))).toBe('done');
    expect(sent).toEqual([select]);
  });

  test('is over with its transaction', async () => {
    const { run } = openPostgresJs();
    let use = (): unknown => undefined;
    expect(await run(inPart((part) => (use = () => part.unsafe('SELECT 1'))))).toBe('done');
    expect(use).toThrow('tx was used after its transaction had ended');
  });
});

describe('once its transaction has ended, tx', () => {
  const late = 'postgresStore: tx was used after its transaction had ended. Nothing was written.';
  /** What a handler keeps of its tx, used when all is over. */
  const useLate = async (more: object, keep: (tx: never) => () => unknown) => {
    const { run } = openPg(more);
    let use = (): unknown => undefined;
    expect(await run((tx) => void (use = keep(tx as never)))).toBe('done');
    return use;
  };

  test('throws, as do its statements, and what those give', async () => {
    const statement = { run: () => 'ran', all: () => ['row'], name: 'insert' };
    const more = { statement: () => statement, rows: () => ['row'].values() };
    type Tx = typeof more;
    const calls: ((tx: Tx) => () => unknown)[] = [
      (tx) => () => tx.rows(),
      (tx) => {
        const own = tx.statement();
        expect([own.run(), own.all(), own.name]).toEqual(['ran', ['row'], 'insert']);
        return () => own.run();
      },
      (tx) => {
        const own = tx.statement();
        return () => own.all();
      },
      (tx) => {
        const own = tx.rows();
        expect(own.next()).toEqual({ value: 'row', done: false });
        return () => own.next();
      },
    ];
    for (const keep of calls) expect(await useLate(more, keep)).toThrow(late);
  });

  test('throws when it is called itself', async () => {
    const { run } = openPostgresJs();
    let use = (): unknown => undefined;
    await run((sql) => void (use = () => sql(template('SELECT 1'))));
    expect(use).toThrow(late);
  });

  test('itself that a method gives is lent, too', async () => {
    const more = {
      self() {
        return this;
      },
    };
    const use = await useLate(more, (tx: typeof more) => {
      const own = tx.self();
      return () => own.self();
    });
    expect(use).toThrow(late);
  });

  test('leaves what it has given alone: rows, numbers and nothing', async () => {
    const row = { next: 1, run: 2 };
    const more = { values: () => [row, 3, null, undefined] };
    let values: unknown[] = [];
    await useLate(more, (tx: typeof more) => {
      values = tx.values();
      return () => undefined;
    });
    expect(values).toEqual([row, 3, null, undefined]);
    expect(values[0]).toBe(row);
  });

  test('has no iterator open any more, whether that can be closed or not', async () => {
    const closed: string[] = [];
    const more = {
      closable: () => ({ next: () => ({ value: 1 }), return: () => void closed.push('one') }),
      other: () => ({ next: () => ({ value: 1 }) }),
    };
    await useLate(more, (tx: typeof more) => {
      tx.other();
      tx.closable();
      expect(closed).toEqual([]);
      return () => undefined;
    });
    expect(closed).toEqual(['one']);
  });
});

test('native methods of a handle are called on the handle itself', async () => {
  class Native {
    readonly #rows = ['row'];
    exec(): void {}
    prepare() {
      const rows = this.#rows;
      return { run: () => ({ changes: 1 }), get: () => undefined, all: () => rows };
    }
  }
  const store = sqliteStore(new Native());
  let rows: unknown;
  await store.claim(claim);
  await store.run(claim, async (tx) => {
    rows = tx.prepare().all();
    return answer;
  });
  expect(rows).toEqual(['row']);
});
