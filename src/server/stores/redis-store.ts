import { rejectValue } from '../../core/lib/input/check.ts';
import { type ClaimResult, type IdempotencyStore, partlyDone, type StoredAnswer } from './store.ts';

/** The part of an ioredis client that the store uses. */
interface IoRedis {
  eval(script: string, keyCount: number, ...args: string[]): Promise<unknown>;
  defineCommand(name: string, definition: { lua: string }): void;
}

/** The part of a `redis` client that the store uses. */
interface NodeRedis {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A client of ioredis or `redis`. */
export type RedisClient = IoRedis | NodeRedis;

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /**
   * The prefix of all its keys in Redis. In a cluster, a part in braces, as in `{shop}:`, keeps them in the
   * same slot as what the handlers write with `tx`. @default 'idempotency:'
   */
  readonly prefix?: string | undefined;
}

/** The transaction of a {@link redisStore}. Redis cannot roll back, so commands wait for the commit. */
export interface RedisTransaction {
  /**
   * Queues a Redis command, as in `queue('LPUSH', 'orders', article)`. It runs atomically with storing the
   * answer, and never if the handler fails or its claim was lost. Half a surrogate pair, as a slice through
   * an emoji leaves it, is written as U+FFFD.
   *
   * @throws Error once the transaction has ended, and for more than 7,000 arguments.
   */
  queue(command: string, ...args: (string | number)[]): void;
}

// One hash per key: `fingerprint`, `token` and `leaseUntil` of the claim, and `answer` once there is one.
// Drivers may send a script again after a broken connection, so each script gives the same result the second
// time.

const claimScript = `
local time = redis.call('TIME')
local nowMs = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('HMGET', KEYS[1], 'fingerprint', 'answer', 'leaseUntil', 'token')
if found[2] then return { 'answered', found[1], found[2] } end
if found[1] and found[4] ~= ARGV[2] and (tonumber(found[3]) > nowMs or found[1] ~= ARGV[1]) then
  return { 'running', found[1] }
end
redis.call('HSET', KEYS[1],
  'fingerprint', ARGV[1], 'token', ARGV[2], 'leaseUntil', string.format('%.0f', nowMs + ARGV[3]))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return { 'claimed' }`;

const commitScript = `
local found = redis.call('HMGET', KEYS[1], 'token', 'answer')
if found[1] ~= ARGV[1] then return { 'lost' } end
if found[2] then return { 'kept' } end
for index, command in ipairs(cjson.decode(ARGV[3])) do
  local reply = redis.pcall(unpack(command))
  if type(reply) == 'table' and reply.err then
    if index > 1 then redis.call('HSET', KEYS[1], 'answer', ARGV[4]) end
    return { 'failed', tostring(index), reply.err }
  end
end
redis.call('HSET', KEYS[1], 'answer', ARGV[2])
return { 'kept' }`;

const freeScript = `
local found = redis.call('HMGET', KEYS[1], 'token', 'answer')
if found[1] == ARGV[1] and not found[2] then redis.call('DEL', KEYS[1]) end
return 1`;

/**
 * Stores keys and answers in Redis, which expires them itself. Leases and lifetimes use the clock of Redis.
 *
 * Commands that the handler queues with `tx` run atomically with storing its answer: both or neither.
 * Anything that it writes elsewhere is not in that transaction: a crash between the two runs it again after
 * the lease. Then give the data a unique column with the user and the `key` of the context.
 *
 * Redis must not evict keys (`maxmemory-policy noeviction`). When it dies, it loses what it had not yet
 * written to disk or sent to the replica that takes over. See docs/server-stores/redis.md.
 *
 * @throws TypeError if the client is neither ioredis nor `redis`, or the prefix is empty.
 *
 * @example
 * ```ts
 * import { Redis } from 'ioredis';
 * import { idempotent } from 'steadfetch/server';
 * import { redisStore } from 'steadfetch/server/redis';
 *
 * const redis = new Redis();
 * export const placeOrder = idempotent(
 *   async (request, { tx }) => {
 *     tx.queue('LPUSH', 'orders', await request.text());
 *     return Response.json({ isPlaced: true }, { status: 201 });
 *   },
 *   { store: redisStore(redis) },
 * );
 * ```
 */
export function redisStore(
  client: RedisClient,
  { prefix = 'idempotency:' }: RedisStoreOptions = {},
): IdempotencyStore<RedisTransaction> {
  if (typeof client?.eval !== 'function')
    rejectValue('redisStore', 'client', client, 'a client of ioredis or of redis');
  if (typeof prefix !== 'string' || prefix === '')
    rejectValue('redisStore', 'prefix', prefix, 'text that is not empty');

  const run = async (script: string, id: string, ...args: string[]): Promise<unknown> =>
    'defineCommand' in client
      ? client.eval(script, 1, prefix + id, ...args)
      : client.eval(script, { keys: [prefix + id], arguments: args });

  return {
    async claim({ id, fingerprint, token, leaseMs, lifetimeMs }) {
      try {
        const reply = await run(claimScript, id, fingerprint, token, `${leaseMs}`, `${lifetimeMs}`);
        // As strings, because a client may be set up to return Buffers.
        return resultOf((reply as unknown[]).map(String) as Claimed);
      } catch (error) {
        if (isOutOfMemory(error)) return { kind: 'full' };
        throw error;
      }
    },

    async run({ id, token }, work) {
      const commands: string[][] = [];
      let isOver = false;
      const tx: RedisTransaction = {
        queue(...command) {
          if (isOver) throw new Error(late);
          if (command.length > mostValues) throw new Error(tooLong(command));
          commands.push(command.map(toWellFormed));
        },
      };
      let answer: StoredAnswer | undefined;
      try {
        answer = await work(tx);
      } finally {
        isOver = true;
        if (!answer) await run(freeScript, id, token);
      }
      // Not freed when the commit fails: the answer may have been stored.
      if (!answer) return true;
      const args = [encodeAnswer(answer), JSON.stringify(commands), encodeAnswer(partlyDone)];
      const reply = (await run(commitScript, id, token, ...args)) as unknown[];
      const [kind, index, message] = reply.map(String);
      if (kind !== 'failed') return kind === 'kept';
      // The first command changed nothing: the next attempt may run.
      if (index === '1') await run(freeScript, id, token);
      throw new Error(`redisStore: command ${index} of ${commands.length} has failed. ${message}`);
    },
  };
}

type Claimed = [kind: string, fingerprint: string, answer: string];

function resultOf([kind, fingerprint, answer]: Claimed): ClaimResult {
  if (kind === 'claimed') return { kind };
  return kind === 'answered'
    ? { kind, fingerprint, answer: decodeAnswer(answer) }
    : { kind: 'running', fingerprint };
}

/** Redis has reached its `maxmemory`, and must not evict keys. Before version 7, other text stands before that. */
const isOutOfMemory = (error: unknown): boolean =>
  (error as Error).message.includes('OOM command not allowed');

/** A call in a script takes fewer than 8,000 values, including the name of the command. */
const mostValues = 7001;

const tooLong = ([name, ...values]: readonly unknown[]): string =>
  `redisStore: ${String(name)} is queued with ${values.length} arguments, and must have at most ${mostValues - 1}. ` +
  `Nothing was written. Queue several commands.`;

/** Valid UTF-8: Redis cannot read half a surrogate pair in JSON. */
const toWellFormed = (value: string | number): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(new TextEncoder().encode(String(value)));

const late = 'redisStore: tx was used after its transaction had ended. Nothing was written.';

/** An answer as JSON. A text body stays readable in Redis. */
type EncodedAnswer = Omit<StoredAnswer, 'body'> & EncodedBody;
type EncodedBody =
  | { readonly text: string; readonly base64?: never }
  | { readonly text?: never; readonly base64: string };

function encodeAnswer({ body, ...answer }: StoredAnswer): string {
  const encoded: EncodedAnswer = { ...answer, ...encodeBody(body) };
  return JSON.stringify(encoded);
}

function encodeBody(body: Uint8Array): EncodedBody {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) };
  } catch {
    let binary = '';
    // In chunks, because a call accepts only some ten thousand arguments.
    for (let start = 0; start < body.length; start += 8192)
      binary += String.fromCharCode(...body.subarray(start, start + 8192));
    return { base64: btoa(binary) };
  }
}

function decodeAnswer(encoded: string): StoredAnswer {
  const { text, base64, ...answer } = JSON.parse(encoded) as EncodedAnswer;
  const body =
    text === undefined
      ? Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
      : new TextEncoder().encode(text);
  return { ...answer, body };
}
