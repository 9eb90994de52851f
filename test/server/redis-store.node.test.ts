import type { StoredAnswer } from 'steadfetch/server';
import { type RedisClient, redisStore, type RedisTransaction } from 'steadfetch/server/redis';
import { describe, expect, test } from 'vitest';
import { claim } from './claim.ts';

// What the store says to a client. What a real Redis makes of it is tested by npm run stores.

const answerOf = (body: Uint8Array<ArrayBuffer>): StoredAnswer => ({
  status: 201,
  headers: [['a', 'b']],
  body,
});
const answer = answerOf(new TextEncoder().encode('done'));
const stored = '{"status":201,"headers":[["a","b"]],"text":"done"}';

/** The scripts, by what only one of them has. */
const nameOf = (script: string): string =>
  ['PEXPIRE', 'pcall', 'DEL'].find((word) => script.includes(word)) ?? '';
const [claiming, committing, freeing] = ['PEXPIRE', 'pcall', 'DEL'] as const;

/** A client that writes down what it is asked for, and replies so, in turn. */
function openRedis(kind: 'ioredis' | 'redis', ...replies: readonly unknown[]) {
  const log: (readonly string[])[] = [];
  const reply = async (script: string, keys: readonly string[], args: readonly string[]) => {
    log.push([nameOf(script), ...keys, ...args]);
    const next = replies[log.length - 1];
    if (next instanceof Error) throw next;
    return next;
  };
  const client: RedisClient =
    kind === 'ioredis'
      ? {
          eval: (script: string, count: number, ...args: string[]) =>
            reply(script, args.slice(0, count), args.slice(count)),
          defineCommand: () => {},
        }
      : {
          eval: (script: string, own: { keys: string[]; arguments: string[] }) =>
            reply(script, own.keys, own.arguments),
        };
  return { log, client, store: redisStore(client) };
}

const run = async (
  replies: readonly unknown[],
  work: (tx: RedisTransaction) => Promise<StoredAnswer | undefined>,
) => {
  const { store, log } = openRedis('ioredis', ...replies);
  const outcome = await store.run(claim, work).catch((error: unknown) => (error as Error).message);
  return { outcome, log };
};

describe.each(['ioredis', 'redis'] as const)('with a client of %s', (kind) => {
  test('a claim has one key, and says what is asked for, by whom, and for how long', async () => {
    const { store, log } = openRedis(kind, ['claimed']);
    expect(await store.claim(claim)).toEqual({ kind: 'claimed' });
    expect(log).toEqual([[claiming, 'idempotency:a', 'f', 't', '500', '1000']]);
  });

  test('another prefix is that of every key', async () => {
    const { client, log } = openRedis(kind, ['claimed'], ['kept']);
    const store = redisStore(client, { prefix: '{shop}:' });
    await store.claim(claim);
    expect(await store.run(claim, async () => answer)).toBe(true);
    expect(log.map(([name, key]) => [name, key])).toEqual([
      [claiming, '{shop}:a'],
      [committing, '{shop}:a'],
    ]);
  });
});

test.each<[string, unknown]>([
  ['text', (reply: string) => reply],
  ['Buffers', (reply: string) => Buffer.from(reply)],
])('a claim says what has become of its key, of replies that are %s', async (_, as) => {
  const claimed = async (...reply: readonly string[]) =>
    openRedis('ioredis', reply.map(as as (reply: string) => unknown)).store.claim(claim);
  expect(await claimed('claimed')).toEqual({ kind: 'claimed' });
  expect(await claimed('running', 'g')).toEqual({ kind: 'running', fingerprint: 'g' });
  expect(await claimed('answered', 'g', stored)).toEqual({
    kind: 'answered',
    fingerprint: 'g',
    answer,
  });
});

test.each([
  "OOM command not allowed when used memory > 'maxmemory'. script: 5f, on @user_script:10.",
  // Redis 5 and 6.
  "ERR Error running script (call to f_5f): @user_script:10: @user_script: 10: -OOM command not allowed when used memory > 'maxmemory'.",
])('a Redis that has no room for another key is full: %s', async (message) => {
  expect(await openRedis('ioredis', new Error(message)).store.claim(claim)).toEqual({
    kind: 'full',
  });
});

test('any other failure of a claim is passed on', async () => {
  const error = new Error('READONLY You can not write against a read only replica.');
  await expect(openRedis('ioredis', error).store.claim(claim)).rejects.toBe(error);
});

test('what is queued goes with the answer, and with what is answered where a part fails', async () => {
  const { outcome, log } = await run([['kept']], async (tx) => {
    tx.queue('RPUSH', 'orders', 'a lamp', 17);
    tx.queue('INCR', 'count');
    return answer;
  });
  expect(outcome).toBe(true);
  const [[script, key, token, kept, commands, partly] = []] = log;
  expect([script, key, token, kept]).toEqual([committing, 'idempotency:a', 't', stored]);
  expect(commands).toBe('[["RPUSH","orders","a lamp","17"],["INCR","count"]]');
  expect(JSON.parse(partly ?? '')).toMatchObject({ status: 500 });
  expect(log).toHaveLength(1);
});

test.each<[string, string, unknown, number]>([
  ['was kept', 'kept', true, 1],
  ['was lost to another request', 'lost', false, 1],
])('a claim that %s is not freed', async (_, reply, outcome, scripts) => {
  const ran = await run([[Buffer.from(reply)]], async () => answer);
  expect(ran.outcome).toBe(outcome);
  expect(ran.log).toHaveLength(scripts);
});

test('a first command that fails has changed nothing: its key is free', async () => {
  const { outcome, log } = await run([['failed', '1', 'WRONGTYPE']], async (tx) => {
    tx.queue('RPUSH', 'a', 'b');
    tx.queue('RPUSH', 'c', 'd');
    return answer;
  });
  expect(outcome).toBe('redisStore: command 1 of 2 has failed. WRONGTYPE');
  expect(log.slice(1)).toEqual([[freeing, 'idempotency:a', 't']]);
});

test('a later command that fails leaves the key taken: those before it are done', async () => {
  const { outcome, log } = await run([['failed', '2', 'WRONGTYPE']], async (tx) => {
    tx.queue('RPUSH', 'a', 'b');
    tx.queue('RPUSH', 'c', 'd');
    return answer;
  });
  expect(outcome).toBe('redisStore: command 2 of 2 has failed. WRONGTYPE');
  expect(log).toHaveLength(1);
});

test.each<[string, () => Promise<StoredAnswer | undefined>, unknown]>([
  ['gives no answer', async () => undefined, true],
  ['throws', () => Promise.reject(new Error('no paper')), 'no paper'],
])('work that %s writes nothing, and its key is free', async (_, end, outcome) => {
  const ran = await run([], (tx) => {
    tx.queue('RPUSH', 'a', 'b');
    return end();
  });
  expect(ran).toEqual({ outcome, log: [[freeing, 'idempotency:a', 't']] });
});

test.each<[string, readonly unknown[]]>([
  ['an answer', [['kept']]],
  ['no answer', []],
])('nothing is queued after the end of a transaction with %s', async (what, replies) => {
  let lent: RedisTransaction | undefined;
  await run(replies, async (tx) => {
    lent = tx;
    return what === 'an answer' ? answer : undefined;
  });
  expect(() => lent?.queue('RPUSH', 'a', 'b')).toThrow(
    'redisStore: tx was used after its transaction had ended. Nothing was written.',
  );
});

test('a command has at most 7,000 arguments, and says so before anything is written', async () => {
  const values = Array.from({ length: 7000 }, () => 'x');
  const fits = await run([['kept']], async (tx) => {
    tx.queue('RPUSH', ...values);
    return answer;
  });
  expect(fits.outcome).toBe(true);
  const tooMany = await run([], async (tx) => {
    tx.queue('RPUSH', ...values, 'x');
    return answer;
  });
  expect(tooMany).toEqual({
    outcome:
      'redisStore: RPUSH is queued with 7001 arguments, and must have at most 7000. Nothing was written. Queue several commands.',
    log: [[freeing, 'idempotency:a', 't']],
  });
});

test.each([
  ['half a surrogate pair', 'a\ud83e', 'a\ufffd'],
  ['a byte order mark', '\ufeffa', '\ufeffa'],
  ['an emoji', '😀', '😀'],
])('a command with %s is valid UTF-8', async (_, value, written) => {
  const { log } = await run([['kept']], async (tx) => {
    tx.queue('SET', 'a', value);
    return answer;
  });
  expect(log[0]?.[4]).toBe(JSON.stringify([['SET', 'a', written]]));
});

test.each<[string, Uint8Array<ArrayBuffer>, Readonly<Record<string, string>>]>([
  ['no body', new Uint8Array(), { text: '' }],
  ['text', new TextEncoder().encode('é😀'), { text: 'é😀' }],
  ['a byte order mark', Uint8Array.of(0xef, 0xbb, 0xbf, 0x61), { text: '\ufeffa' }],
  ['bytes', Uint8Array.of(0, 255, 128), { base64: 'AP+A' }],
  [
    // More than one call takes as arguments.
    'bytes of two chunks',
    new Uint8Array(8193).fill(255, 0, 1).fill(7, 8192),
    { base64: `/w${'A'.repeat(10_920)}AH` },
  ],
])('an answer of %s comes back as it was', async (_, body, encoded) => {
  const { log } = await run([['kept']], async () => answerOf(body));
  const kept = log[0]?.[3] ?? '';
  expect(JSON.parse(kept)).toEqual({ status: 201, headers: [['a', 'b']], ...encoded });
  const { store } = openRedis('redis', ['answered', 'f', kept]);
  expect(await store.claim(claim)).toEqual({
    kind: 'answered',
    fingerprint: 'f',
    answer: answerOf(body),
  });
});

test.each<[unknown, unknown, string]>([
  [undefined, {}, 'client is undefined, and must be a client of ioredis or of redis.'],
  [null, {}, 'client is null, and must be a client of ioredis or of redis.'],
  [{ eval: 1 }, {}, 'client is {"eval":1}, and must be a client of ioredis or of redis.'],
  [{ eval: () => {} }, { prefix: '' }, "prefix is '', and must be text that is not empty."],
  [{ eval: () => {} }, { prefix: 5 }, 'prefix is 5, and must be text that is not empty.'],
])('%j with %j is refused where the store is made', (client, options, message) => {
  const create = () => redisStore(client as RedisClient, options as object);
  expect(create).toThrow(TypeError);
  expect(create).toThrow(`redisStore: ${message}`);
});
