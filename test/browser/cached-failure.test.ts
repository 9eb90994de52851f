import { expect, inject, test } from 'vitest';
import { createSteadfetch, retry } from 'steadfetch';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');

test('a failure that the browser may cache is asked for again at the server', async () => {
  const talk = openTalk(origin, 'unavailable-cached', 'unavailable-cached', 'ok');
  const steady = createSteadfetch({ policy: { baseMs: 1, capMs: 1 } });
  const data = await retry(steady, ({ signal }) => steady.json(talk.url, { signal }));
  expect(data).toEqual({ id: 1 });
  expect((await talk.log()).requests).toHaveLength(3);
});

test('the browser answers a plain second request from its cache', async () => {
  const talk = openTalk(origin, 'unavailable-cached', 'ok');
  await fetch(talk.url);
  expect((await fetch(talk.url)).status).toBe(503);
  expect((await talk.log()).requests).toHaveLength(1);
});
