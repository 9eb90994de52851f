import { createSteadfetch, watchConnectivity } from 'steadfetch';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { answer, fakeServer, origin } from '../fetch/fake-server.ts';
import { fakeTime } from '../fetch/observe.ts';

beforeEach(fakeTime);

test.each([
  ['a document', 'document'],
  ['a window', 'window'],
])('where there is %s without events, everything is safe', async (_name, global) => {
  const before = vi.getTimerCount();
  vi.stubGlobal('navigator', { onLine: false });
  for (const name of ['document', 'window'])
    vi.stubGlobal(name, name === global ? {} : new EventTarget());
  onTestFinished(() => void vi.unstubAllGlobals());
  const server = fakeServer(answer());
  const probe = { url: '/here' };
  const steady = createSteadfetch({
    fetch: server.fetch,
    connectivity: watchConnectivity({ check: probe }),
    random: () => 0.5,
  });
  const response = await steady.fetch(`${origin}/a`);
  expect(response.status).toBe(200);
  await response.text();
  expect(server.requests.map(({ url }) => url)).toEqual([`${origin}/a`]);
  steady.dispose();
  expect(vi.getTimerCount()).toBe(before);
});
