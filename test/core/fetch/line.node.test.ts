import { createSteadfetch } from 'steadfetch';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hang } from './fake-server.ts';
import { fakeTime, observe } from './observe.ts';

const url = 'http://api.example/items';

/** The states of eight requests to a server that hangs, at their limit. */
async function statesOf(steady: ReturnType<typeof createSteadfetch>): Promise<string[]> {
  fakeTime();
  onTestFinished(() => void vi.useRealTimers());
  const all = Array.from({ length: 8 }, (_, number) => observe(steady.fetch(`${url}/${number}`)));
  await vi.advanceTimersByTimeAsync(10_000);
  return all.map(({ state }) => state);
}

test('on a server, nothing waits for a connection: each request has its limit from the start', async () => {
  vi.stubGlobal('fetch', hang);
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(await statesOf(createSteadfetch())).toEqual(Array.from({ length: 8 }, () => 'rejected'));
});

test('a fetch of the app is taken for one with the connections of a browser', async () => {
  const states = await statesOf(createSteadfetch({ fetch: async () => hang(new Request(url)) }));
  expect(states.filter((state) => state === 'pending')).toHaveLength(2);
});
