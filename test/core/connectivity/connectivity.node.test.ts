import { onlineManager } from '@tanstack/react-query';
import { createSteadfetch, watchConnectivity } from 'steadfetch';
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
