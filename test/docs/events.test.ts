import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, onTestFinished, test, vi } from 'vitest';
import { prices } from './recipes/events.ts';
import { steady } from './recipes/steady.ts';

const { at } = vi.hoisted(() => ({ at: { url: '' } }));
vi.mock('./recipes/steady.ts', async () => {
  const { createSteadfetch } = await import('steadfetch');
  const send: typeof fetch = (input, init) => fetch(new URL(input as string, at.url), init);
  return { steady: createSteadfetch({ fetch: send, random: () => 0 }) };
});

test('an event stream goes on where it broke off, over a 503 and over its end', async () => {
  const asked: (string | undefined)[] = [];
  let isClosed = false;
  const answers: ((response: ServerResponse) => unknown)[] = [
    (response) => {
      response.write('id: 1\ndata: seven\n\nid: 2\r\ndata: eight\r\n');
      response.write('data: and a half\r\n\r', () => {
        response.write('\nid: 3\ndata: ni', () => response.destroy());
      });
    },
    (response) => response.writeHead(503).end(),
    (response) => response.end(': a comment\n\nid: 3\nevent: price\ndata: nine\n\n'),
    (response) => {
      response.on('close', () => (isClosed = true));
      response.write('data: ten\n\n');
    },
  ];
  const server = createServer(({ headers }, response) => {
    asked.push(headers['last-event-id'] as string | undefined);
    answers.shift()?.(response);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  at.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // Each round of the interval is ours; the rest takes the time that it takes.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const observer = new QueryObserver(client, prices);
  const errors: unknown[] = [];
  const unsubscribe = observer.subscribe(({ error }) => void (error && errors.push(error)));
  onTestFinished(() => {
    vi.useRealTimers();
    client.clear();
    steady.dispose();
    server.closeAllConnections();
    server.close();
  });
  const shown = () => {
    const { data = [], fetchStatus } = observer.getCurrentResult();
    return [fetchStatus, ...data.map(({ id, data: text }) => `${id} ${text}`)];
  };

  await expect.poll(shown).toEqual(['idle', '1 seven', '2 eight\nand a half']);
  vi.advanceTimersByTime(3000);
  await expect.poll(shown).toEqual(['idle', '1 seven', '2 eight\nand a half', '3 nine']);
  vi.advanceTimersByTime(3000);
  await expect.poll(() => shown().at(-1)).toBe('3 ten');
  vi.advanceTimersByTime(6000);
  expect(observer.getCurrentResult().fetchStatus).toBe('fetching');
  expect(asked).toEqual([undefined, '2', '2', '3']);
  expect(errors).toEqual([]);

  unsubscribe();
  await expect.poll(() => isClosed).toBe(true);
});
