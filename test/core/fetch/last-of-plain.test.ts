import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';
import { fakeServer, hang, origin } from './fake-server.ts';
import { fakeTime } from './observe.ts';

beforeEach(fakeTime);

test.each<[string, number | boolean, number, string, number]>([
  ['makes no retry', false, 0, 'resolved 25000', 1],
  ['has a count of none', 0, 0, 'resolved 25000', 1],
  ['has used its only one', 1, 0, 'resolved 36000', 2],
  ['is not in its last attempt', 2, 0, 'resolved 47000', 3],
  ['makes no retry, and its server hangs', false, 1, 'rejected 60000', 1],
])(
  'a write that is late is waited for, because its plain mutation %s',
  async (_, times, hangs, end, requests) => {
    const server = fakeServer((request) =>
      hangs
        ? hang(request)
        : new Promise((resolve) => {
            setTimeout(() => resolve(Response.json('done')), 25_000);
          }),
    );
    const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5, ...noOrigin });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    await client.query({ queryKey: ['page'], queryFn: () => 1 });
    const startedAt = Date.now();
    const options = client.defaultMutationOptions({
      mutationFn: () => steady.json(`${origin}/draft`, { method: 'PUT' }),
      retry: times,
      retryDelay: 1000,
    });
    const run = client.getMutationCache().build(client, options).execute(undefined);
    const ended = run.then(
      () => `resolved ${Date.now() - startedAt}`,
      () => `rejected ${Date.now() - startedAt}`,
    );
    await vi.advanceTimersByTimeAsync(300_000);
    expect(await ended).toBe(end);
    expect(server.requests).toHaveLength(requests);
  },
);
