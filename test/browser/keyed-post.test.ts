import { createSteadfetch, retry, defineIdempotency } from 'steadfetch';
import { beforeEach, expect, inject, test, vi } from 'vitest';
import { rejectionOf } from '../core/fetch/observe.ts';
import { openTalk, type Talk } from './talk.ts';

const [origin] = inject('origins');
const steady = createSteadfetch({
  apis: [{ match: origin, idempotency: defineIdempotency({ header: 'Idempotency-Key' }) }],
  policy: { baseMs: 0 },
});
const order = { article: 'Ærø', pieces: 2 };
const headers = { 'idempotency-key': '"8e03978e"' };

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

const send = (talk: Talk, init: RequestInit): Promise<unknown> =>
  retry(steady, ({ signal }) => steady.json(talk.url, { ...init, json: order, signal }));

test('a keyed POST is preflighted, and after a reset it is sent again: same key, same bytes', async () => {
  const talk = openTalk(origin, 'reset', 'unavailable', 'conflict', 'ok');
  expect(await send(talk, { headers })).toEqual({ id: 1 });
  const { requests, preflights } = await talk.log();
  expect(preflights).toBe(4);
  expect(requests).toHaveLength(4);
  for (const { method, body, headers: sent } of requests) {
    expect(method).toBe('POST');
    expect(sent['idempotency-key']).toBe('"8e03978e"');
    expect(sent['content-type']).toBe('application/json');
    expect(body).toBe(JSON.stringify(order));
  }
});

test('a POST without a key is sent once, and ends as unknown', async () => {
  const talk = openTalk(origin, 'reset', 'ok');
  expect(await rejectionOf(send(talk, {}))).toMatchObject({
    code: 'network',
    outcome: { processed: 'unknown' },
    decision: { kind: 'stop', reason: 'not-idempotent' },
  });
  expect((await talk.log()).requests).toHaveLength(1);
});

test('a keyed POST whose answer was lost is replayed to get it', async () => {
  const talk = openTalk(origin, 'not-json', 'ok');
  expect(await send(talk, { headers })).toEqual({ id: 1 });
  expect((await talk.log()).requests).toHaveLength(2);
});
