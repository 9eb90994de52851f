import { idempotent, type IdempotentHandler } from 'steadfetch/server';
import { describe, expect, test } from 'vitest';
import { createLatch, type NamedStore, post, type StoreRig } from './rig.ts';

const key = '"a"';

/** The wrapped handler, with the limits of a test. */
const wrap = ({ store }: StoreRig, handler: IdempotentHandler<unknown>) =>
  idempotent(handler, { store, storeTimeoutMs: 600_000, onStoreError: () => {} });

/** A request, by its status or by what it has failed with. */
async function outcomeOf(answer: Promise<Response>): Promise<number | string> {
  return answer.then(
    ({ status }) => status,
    (error: unknown) => (error as Error).message,
  );
}

/** Texts that some store, or the way to it, cannot hold. */
const texts: Readonly<Record<string, string>> = {
  'the first half of a surrogate pair, as a slice leaves it': 'kite \ud83e',
  'the second half of a surrogate pair': '\ude81 kite',
  'a NUL': 'a\0b',
  'an empty text': '',
  'a megabyte': 'x'.repeat(1_000_000),
  'a line separator': 'a\u2028b',
  'the end of a transaction': "'; COMMIT; --",
  'a template of Redis': '{a}{b}%s\\',
};

/** Statements that would begin or end the transaction of a handler, with the word that is named. */
const ends: readonly (readonly [sql: string, named: string])[] = [
  ['BEGIN', 'BEGIN'],
  ['begin immediate', 'begin'],
  ['START TRANSACTION', 'START TRANSACTION'],
  ['COMMIT', 'COMMIT'],
  [' \n commit;', 'commit'],
  ['/* done */ COMMIT', 'COMMIT'],
  ['-- done\nEND', 'END'],
  ["SELECT ';'; COMMIT", 'COMMIT'],
  ['ROLLBACK', 'ROLLBACK'],
  ['ABORT', 'ABORT'],
  ["PREPARE TRANSACTION 'a'", 'PREPARE TRANSACTION'],
];

/** Statements that look like such, and are none. */
const within: readonly string[] = [
  'SAVEPOINT one',
  'ROLLBACK TO SAVEPOINT one',
  'ROLLBACK TO one',
  'RELEASE SAVEPOINT one',
  "SELECT '; COMMIT'",
  'SELECT 1 AS "; COMMIT"',
  'SELECT 1 -- ; COMMIT',
  'SELECT 1 /* ; COMMIT */',
];

/**
 * That an answer and its effect agree, with every store that is to be had: what can fail, fails before the
 * commit.
 *
 * @param send - Sends a statement by the handle of a handler, in each of the ways that the handle has.
 *   Undefined for a store that has none.
 */
export function testCommit(
  createStore: NamedStore[1],
  send: Readonly<Record<string, (tx: unknown, sql: string) => unknown>> = {},
): void {
  test.each(Object.entries(texts))(
    'an order of %s is told as done and done, or neither, also the second time',
    async (_, text) => {
      const rig = await createStore();
      const order = wrap(rig, async (_request, { tx }) => {
        await rig.ledger.write(tx, text);
        return new Response(null, { status: 201 });
      });
      const first = await outcomeOf(order(post({ key })));
      const isDone = first === 201;
      expect(await rig.ledger.orders()).toHaveLength(isDone ? 1 : 0);
      expect(await outcomeOf(order(post({ key })))).toBe(first);
      expect(await rig.ledger.orders()).toHaveLength(isDone ? 1 : 0);
    },
  );

  describe.each(Object.entries(send))('by %s', (_, sendBy) => {
    test.each(ends)('%j is refused in a handler, and nothing of it is done', async (sql, named) => {
      const rig = await createStore();
      const order = wrap(rig, async (_request, { tx }) => {
        await rig.ledger.write(tx, 'a kite');
        await sendBy(tx, sql);
        return new Response(null, { status: 201 });
      });
      const message = `tx is a transaction already, and ends with the answer. ${named} is not sent.`;
      expect(await outcomeOf(order(post({ key })))).toContain(message);
      expect(await rig.ledger.orders()).toEqual([]);
      const good = wrap(rig, () => new Response(null, { status: 204 }));
      expect(await outcomeOf(good(post({ key })))).toBe(204);
    });

    test('a part that may fail, and words in literals and comments, are statements like others', async () => {
      const rig = await createStore();
      const order = wrap(rig, async (_request, { tx }) => {
        for (const sql of within) await sendBy(tx, sql);
        await rig.ledger.write(tx, 'a kite');
        return new Response(null, { status: 201 });
      });
      // The savepoint is released by its first ROLLBACK TO and RELEASE in this order.
      expect(await outcomeOf(order(post({ key })))).toBe(201);
      expect(await rig.ledger.orders()).toEqual(['a kite']);
    });
  });

  test('an answer without an end is read no further once its lease is over', async () => {
    const rig = await createStore();
    const cancelled = createLatch();
    let chunks = 0;
    const endless = (): ReadableStream<Uint8Array> =>
      new ReadableStream({
        async pull(controller) {
          chunks += 1;
          controller.enqueue(new Uint8Array(1024));
          await new Promise((resolve) => setTimeout(resolve, 1));
        },
        cancel: cancelled.open,
      });
    const order = idempotent(
      async (_request, { tx }) => {
        await rig.ledger.write(tx, 'a kite');
        return new Response(endless());
      },
      { store: rig.store, leaseMs: 50, storeTimeoutMs: 600_000 },
    );
    const message =
      'idempotent: the handler gave no answer within leaseMs, 50 ms. It is rolled back, and its key is free again.';
    expect(await outcomeOf(order(post({ key })))).toBe(message);
    await cancelled.opened;
    const atEnd = chunks;
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(chunks).toBe(atEnd);
    expect(await rig.ledger.orders()).toEqual([]);
  });
}
