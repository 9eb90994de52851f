import { createSteadfetch } from 'steadfetch';
import { expect, onTestFinished, test, vi } from 'vitest';
import { hang } from './fake-server.ts';
import { Line } from '../../../src/core/fetch/attempt/limits/line.ts';
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

test('a probe behind six others is timed from its sending on, whatever becomes of those', () => {
  const told: string[] = [];
  const line = new Line();
  const queued = (name: string) => ({
    awaitHeaders: () => void told.push(`${name}: its place`),
    awaitHeadersSinceSent: () => void told.push(`${name}: since it was sent`),
    awaitNothing: () => void told.push(`${name}: waits`),
  });
  const [first, ...others] = ['1', '2', '3', '4', '5', '6'].map(queued);
  for (const one of [first, ...others]) line.add(one as NonNullable<typeof one>, false);
  told.length = 0;
  expect(line.add(queued('probe'), true)).toBe(false);
  expect(line.add(queued('7'), false)).toBe(true);
  line.hold(first as NonNullable<typeof first>);
  line.end(first as NonNullable<typeof first>);
  expect(told).toEqual(['probe: its place', '6: waits', '6: its place']);
});
