import { createSteadfetch, type SteadfetchEvent } from 'steadfetch';
import { expect, inject, test, vi } from 'vitest';
import { openTalk } from './talk.ts';

// An origin that no other test of this file's page talks to: its connections are counted.
const [, origin] = inject('origins');

test('a browser resends by itself on a used connection: one attempt of ours, two POSTs', async () => {
  const steady = createSteadfetch();
  const listener = vi.fn<(event: SteadfetchEvent) => void>();
  const talk = openTalk(origin, 'keep-alive', 'reset-if-reused');
  await (await steady.fetch(talk.url)).json();
  steady.subscribe(listener);

  const init = { method: 'POST', body: 'order', headers: { 'content-type': 'text/plain' } };
  const response = await steady.fetch(talk.url, init);

  expect(response.status).toBe(200);
  expect(listener.mock.calls.map(([event]) => event.type)).toEqual([
    'request:start',
    'request:end',
  ]);
  const { requests } = await talk.log();
  expect(requests.map(({ method, body }) => [method, body])).toEqual([
    ['GET', ''],
    ['POST', 'order'],
    ['POST', 'order'],
  ]);
});
