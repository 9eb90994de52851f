import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';
import { fakeServer, origin } from './fake-server.ts';
import { fakeTime } from './observe.ts';

beforeEach(fakeTime);

/** Runs a plain mutation whose server takes so long. @returns when and how it ended, and the number of its requests. */
async function mutate(method: string, latencyMs: number, options: object): Promise<string> {
  const server = fakeServer(
    () =>
      new Promise((resolve) => {
        setTimeout(() => resolve(Response.json('done')), latencyMs);
      }),
  );
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5, ...noOrigin });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  // An instance knows the clients whose queries have fetched.
  await client.query({ queryKey: ['page'], queryFn: () => 1 });
  const startedAt = Date.now();
  const mutation = client.getMutationCache().build(
    client,
    client.defaultMutationOptions({
      mutationFn: () => steady.json(`${origin}/draft`, { method }),
      retryDelay: 1000,
      ...options,
    }),
  );
  const ended = mutation.execute(undefined).then(
    () => `done ${Date.now() - startedAt}`,
    () => `failed ${Date.now() - startedAt}`,
  );
  await vi.advanceTimersByTimeAsync(300_000);
  return `${await ended} after ${server.requests.length}`;
}

const longMs = 400_000;

test.each<[string, number, object, string]>([
  ['PUT', 12_000, {}, 'done 12000 after 1'],
  ['DELETE', 12_000, {}, 'done 12000 after 1'],
  ['PUT', 59_000, {}, 'done 59000 after 1'],
  ['PUT', 25_000, { retry: false }, 'done 25000 after 1'],
  ['PUT', 25_000, { retry: 2 }, 'done 25000 after 1'],
  ['DELETE', 25_000, { retry: 0 }, 'done 25000 after 1'],
  ['PUT', longMs, { retry: false }, 'failed 60000 after 1'],
  ['PUT', longMs, { retry: 1 }, 'failed 121000 after 2'],
])('a plain mutation waits for its write as React Query alone: %s, %i ms, %o', async (...row) => {
  const [method, latencyMs, options, end] = row;
  expect(await mutate(method, latencyMs, options)).toBe(end);
});
