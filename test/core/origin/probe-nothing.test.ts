import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import { expect, test, vi } from 'vitest';
import { answer, fakeServer, origin } from '../fetch/fake-server.ts';
import { fakeTime } from '../fetch/observe.ts';

test('a probe that shows nothing, such as the page of a captive portal, is not sent again at once', async () => {
  fakeTime();
  const down = answer(503);
  const portal = answer(200, '<html>', { 'content-type': 'text/html' });
  const server = fakeServer(down, down, portal);
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5 });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const observer = new QueryObserver(client, {
    queryKey: ['a'],
    queryFn: ({ signal }) => steady.json(`${origin}/a`, { signal }),
  });
  // Who looks at the status has it promised when the next probe goes.
  const unsubscribe = observer.subscribe(() => {});
  await vi.advanceTimersByTimeAsync(59_000);
  const gaps = server.timesMs
    .slice(3)
    .map((time, index) => time - (server.timesMs[index + 2] ?? 0));
  expect(gaps.length).toBeGreaterThan(3);
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(1200);
  unsubscribe();
  client.clear();
  steady.dispose();
});
