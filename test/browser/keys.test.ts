import { createSteadfetch, profiles } from 'steadfetch';
import { beforeEach, expect, inject, test, vi } from 'vitest';
import { submissionKey, createSubmitter } from '../core/fetch/submit.ts';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());

const submitter = () =>
  createSubmitter(fetch, [{ match: origin, idempotency: profiles.draft }], {
    policy: { baseMs: 0 },
  });

test('the key is on the wire in quotes, on attempt 1 and on every retry, with the same bytes', async () => {
  const talk = openTalk(origin, 'reset', 'conflict', 'ok');
  const body = JSON.stringify({ article: 'Ærø' });
  const headers = { 'content-type': 'application/json' };
  await submitter().submit((send) => send(talk.url, { method: 'POST', body, headers }));
  const { requests } = await talk.log();
  expect(requests.map(({ headers: sent }) => sent['idempotency-key'])).toEqual(
    Array.from({ length: 3 }, () => `"${submissionKey}"`),
  );
  expect(requests.map((request) => request.body)).toEqual([body, body, body]);
});

const makeForm = (): FormData => {
  const form = new FormData();
  form.set('na"me\r\n', 'a\nb\r\nc\r');
  form.set('file', new File(['<kite>\r\n\n'], 'my "kite"\n.svg', { type: 'image/svg+xml' }));
  form.append('file', new Blob(['Ærø']));
  return form;
};

test('a form with files is what Chromium itself sends, but for the boundary, and the same again', async () => {
  const talk = openTalk(origin, 'ok', 'reset', 'ok');
  await fetch(talk.url, { method: 'POST', body: makeForm() });
  await submitter().submit((send) => send(talk.url, { method: 'POST', body: makeForm() }));
  const { requests } = await talk.log();
  const [native, first, second] = requests.map(({ headers, body }) => {
    const boundary = headers['content-type']?.split('boundary=')[1] ?? '';
    expect(boundary).not.toBe('');
    return { boundary, body, neutral: body.replaceAll(boundary, 'BOUNDARY') };
  });
  expect(first?.neutral).toBe(native?.neutral);
  expect(second).toEqual(first);
  expect(second?.boundary).not.toBe(native?.boundary);
});

test('without a profile there is no header, no preflight, and no second attempt', async () => {
  const talk = openTalk(origin, 'reset', 'ok');
  const { submit } = createSubmitter(fetch, []);
  const { error } = await submit((send) => send(talk.url, { method: 'POST', body: 'x' }));
  expect(error).toMatchObject({
    outcome: { processed: 'unknown' },
    decision: { reason: 'not-idempotent' },
  });
  const { requests, preflights } = await talk.log();
  expect(preflights).toBe(0);
  expect(requests.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined]);
});

test('a key in the body needs no header, and a simple request no preflight', async () => {
  const talk = openTalk(origin, 'ok');
  const { submit } = createSubmitter(fetch, [{ match: origin, idempotency: profiles.square }]);
  await submit((send) => send(talk.url, { method: 'POST', body: '{"amount":1}' }));
  const { requests, preflights } = await talk.log();
  expect(preflights).toBe(0);
  expect(requests.map(({ body }) => body)).toEqual([
    `{"idempotency_key":"${submissionKey}","amount":1}`,
  ]);
});

test('a body of another realm keeps its bytes and its type', async () => {
  const frame = document.createElement('iframe');
  document.body.append(frame);
  const realm = frame.contentWindow as Window & typeof globalThis;
  const form = new realm.FormData();
  form.set('file', new realm.File(['x'], 'x.txt', { type: 'text/plain' }));
  const bodies: BodyInit[] = [
    form,
    new realm.URLSearchParams({ a: '1' }),
    new realm.Blob(['b']),
    new realm.Uint8Array([99]),
  ];
  const talk = openTalk(origin, 'ok');
  const steady = createSteadfetch({
    apis: [{ match: origin, idempotency: profiles.draft }],
  });
  for (const [nth, body] of bodies.entries()) {
    await steady.fetch(talk.url, { method: 'POST', body, idempotencyKey: `k${nth}` });
  }
  frame.remove();
  const { requests } = await talk.log();
  expect(requests.map(({ body }) => body).slice(1)).toEqual(['a=1', 'b', 'c']);
  expect(requests[0]?.body).toContain(
    'name="file"; filename="x.txt"\r\nContent-Type: text/plain\r\n\r\nx\r\n',
  );
  expect(requests[1]?.headers['content-type']).toBe(
    'application/x-www-form-urlencoded;charset=UTF-8',
  );
});
