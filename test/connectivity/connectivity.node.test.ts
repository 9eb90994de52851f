import { onlineManager, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement, type ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import { createSteadfetch, watchConnectivity } from 'steadfetch';
import { useConnectivity } from 'steadfetch/react';
import { expect, test, vi } from 'vitest';

const refuse = () => Promise.reject(new TypeError('fetch failed'));

test('on a server there is no check, no timer, no listener, and React Query keeps its onlineManager', async () => {
  expect([typeof window, typeof document]).toEqual(['undefined', 'undefined']);
  vi.useFakeTimers();
  const setEventListener = vi.spyOn(onlineManager, 'setEventListener');
  const fetch = vi.fn<typeof globalThis.fetch>(refuse);
  const steady = createSteadfetch({
    fetch,
    connectivity: watchConnectivity({ check: { url: '/here' } }),
  });
  expect(vi.getTimerCount()).toBe(0);
  expect(setEventListener).not.toHaveBeenCalled();
  await expect(steady.fetch('http://api.example/a')).rejects.toMatchObject({ code: 'network' });
  expect(fetch).toHaveBeenCalledTimes(1);
  expect(vi.getTimerCount()).toBe(0);
  steady.dispose();
  vi.useRealTimers();
});

test('the hook renders: nothing is known yet, and nothing is wrong', () => {
  const steady = createSteadfetch({ connectivity: watchConnectivity() });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  function Network(): string {
    const { status, since, nextCheckAt, checkNow } = useConnectivity();
    checkNow();
    return `${status} ${since} ${nextCheckAt}`;
  }
  const child: ReactElement = createElement(Network);
  const html = renderToString(createElement(QueryClientProvider, { client }, child));
  expect(html).toBe('online 0 undefined');
});
