import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, type Steadfetch, retry, watchConnectivity } from 'steadfetch';
import type { Connectivity } from '../../../src/core/connectivity/connectivity.ts';
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { instanceOf } from '../../../src/core/react-query/instance.ts';
import { answer, type FakeServer, fakeServer, origin } from '../fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../fetch/observe.ts';

beforeEach(fakeTime);

const url = `${origin}/items`;
const login = '<!doctype html><title>Log in</title>';

interface Rig {
  readonly steady: Steadfetch;
  readonly status: () => string;
  /** The requests that were no checks of the network, and when. */
  readonly timesMs: () => readonly number[];
}

/** A page behind a captive portal, which answers everything until somebody has logged in. */
function behindPortal(untilMs: number, hasCheck: boolean, status = 200): Rig {
  const startedAt = Date.now();
  const times: number[] = [];
  const server: FakeServer = fakeServer(({ url: asked }) => {
    const isCheck = asked.endsWith('/ping');
    if (!isCheck) times.push(Date.now() - startedAt);
    if (Date.now() - startedAt < untilMs)
      return new Response(login, { status, headers: { 'content-type': 'text/html' } });
    return isCheck
      ? new Response('pong')
      : new Response('{"id":1}', { headers: { 'content-type': 'application/json' } });
  });
  const steady = createSteadfetch({
    fetch: server.fetch,
    random: () => 0.5,
    connectivity: watchConnectivity({
      check: hasCheck && {
        url: '/ping',
        method: 'GET',
        expect: async (response) => (await response.text()) === 'pong',
      },
    }),
  });
  onTestFinished(() => steady.dispose());
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const { connectivity } = instanceOf(client, 'test');
  return { steady, status: () => `${connectivity?.getState().status}`, timesMs: () => times };
}

test.each([
  ['its page', 200],
  ['its 511', 511],
])(
  'a captive portal makes the network be checked by %s, and all waits until it is gone',
  async (_by, code) => {
    const { steady, status, timesMs } = behindPortal(40_000, true, code);
    const result = observe(
      retry(steady, ({ signal }) => steady.json(url, { method: 'PUT', signal })),
    );
    await settled();
    expect(status()).toBe('offline');
    await vi.advanceTimersByTimeAsync(39_999);
    expect([result.state, timesMs()]).toEqual(['pending', [0]]);
    await vi.advanceTimersByTimeAsync(5576);
    expect([result.value, status(), timesMs()]).toEqual([{ id: 1 }, 'online', [0, 45_575]]);
  },
);

test('without a check it is a reason for suspicion, and a good answer takes that away', async () => {
  const { steady, status, timesMs } = behindPortal(1000, false);
  const result = observe(retry(steady, ({ signal }) => steady.json(url, { signal })));
  await settled();
  expect(status()).toBe('suspect');
  await vi.advanceTimersByTimeAsync(1500);
  expect([result.value, status(), timesMs()]).toEqual([{ id: 1 }, 'online', [0, 500, 1500]]);
});

test('a page that nobody asked to be JSON is what it is', async () => {
  const { steady, status } = behindPortal(1000, true);
  expect((await steady.fetch(url)).status).toBe(200);
  expect(status()).toBe('online');
});

test('a connection without TLS that is sent to another origin proves nothing of the network', async () => {
  const portal = answer(200, '{}', { 'content-type': 'application/json' });
  const server = fakeServer(async (request) => {
    const response = await portal(request);
    Object.defineProperty(response, 'redirected', { value: true });
    Object.defineProperty(response, 'url', { value: 'http://portal.example/login' });
    return response;
  });
  const steady = createSteadfetch({ fetch: server.fetch, connectivity: watchConnectivity() });
  onTestFinished(() => steady.dispose());
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const { connectivity } = instanceOf(client, 'test');
  const recordAnswer = vi.spyOn(connectivity as Connectivity, 'recordAnswer');
  await steady.fetch('http://api.example/a');
  expect(recordAnswer).not.toHaveBeenCalled();
  await steady.fetch('https://api.example/a');
  expect(recordAnswer).toHaveBeenCalledTimes(1);
});
