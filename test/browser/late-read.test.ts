import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { fakeTime } from '../core/fetch/observe.ts';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');

// Chromium keeps a second read of a URL waiting for the first (cache-lock.test.ts), which is not aborted when it is late.
test.each<RequestCache | undefined>([undefined, 'no-store', 'reload', 'no-cache', 'force-cache'])(
  'the retry of a read that hangs does not wait in the browser for it, with cache mode %s',
  async (cache) => {
    const talk = openTalk(origin, 'hang', 'ok');
    const steady = createSteadfetch({ policy: { timeout: 300 } });
    onTestFinished(() => steady.dispose());
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    onTestFinished(() => client.clear());
    const data = client.fetchQuery({
      queryKey: ['a'],
      queryFn: () => steady.json(talk.url, cache && { cache }),
    });
    await talk.arrived(2);
    expect(await data).toEqual({ id: 1 });
    expect((await talk.closed(2)).requests.length).toBe(2);
  },
);

test('five reads that hang, and a probe of their endpoint, leave a connection over HTTP/1.1 to a healthy read', async () => {
  fakeTime();
  onTestFinished(() => void vi.useRealTimers());
  const steady = createSteadfetch({ random: () => 0.5 });
  onTestFinished(() => steady.dispose());
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  onTestFinished(() => client.clear());
  let sent = 0;
  steady.subscribe(({ type }) => (sent += type === 'request:start' ? 1 : 0));
  const talks = [1, 2, 3, 4, 5].map(() => openTalk(origin, 'hang'));
  for (const [id, { url }] of talks.entries())
    new QueryObserver(client, { queryKey: [id], queryFn: () => steady.json(url) }).subscribe(
      () => {},
    );
  for (const talk of talks) await talk.arrived(1);
  await vi.advanceTimersByTimeAsync(13_000);
  expect(sent).toBe(6);
  const healthy = openTalk(origin, 'ok');
  const queryFn = (): unknown => steady.json(`${healthy.url}&healthy`);
  expect(await client.fetchQuery({ queryKey: ['healthy'], queryFn })).toEqual({ id: 1 });
});
