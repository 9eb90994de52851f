import { useQuery } from '@tanstack/react-query';
import { act, configure, render, screen } from '@testing-library/react';
import { createContext, use } from 'react';
import { createSteadfetch, type SteadfetchEvent } from 'steadfetch';
import { renderWithSteadfetch, virtualTime } from 'steadfetch/testing';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { answer, fakeServer, hang, origin } from '../core/fetch/fake-server.ts';

let time: ReturnType<typeof virtualTime>;
beforeEach(() => {
  time = virtualTime(vi, { act: (work) => act(work) });
  return time.restore;
});

const Place = createContext('nowhere');

function Name() {
  const { data } = useQuery({
    queryKey: ['name'],
    queryFn: async () => (await fetch(origin)).text(),
  });
  return `${data ?? 'Loading'} ${use(Place)}`;
}

function stubFetch(...handlers: Parameters<typeof fakeServer>) {
  const server = fakeServer(...handlers);
  vi.stubGlobal('fetch', server.fetch);
  onTestFinished(() => void vi.unstubAllGlobals());
  return server;
}

describe('renderWithSteadfetch', () => {
  test('gives each test a client of its own, with the options of an instance', async () => {
    const server = stubFetch(answer(200, 'Lamp'));
    for (const requests of [1, 2]) {
      const { unmount, queryClient, steady, container } = renderWithSteadfetch(render, <Name />);
      expect(container.textContent).toBe('Loading nowhere');
      await time.settle();
      expect(container.textContent).toBe('Lamp nowhere');
      expect(server.requests.length).toBe(requests);
      expect(queryClient.getDefaultOptions()).toEqual(steady.defaultOptions);
      unmount();
    }
  });

  test('takes the instance of the app, and what else is to be around it', async () => {
    const steady = createSteadfetch({ fetch: fakeServer(answer(200, 'Lamp')).fetch });
    onTestFinished(steady.dispose);
    function Json() {
      const { data } = useQuery({
        queryKey: ['name'],
        queryFn: async () => (await steady.fetch(origin)).text(),
      });
      return `${data} ${use(Place)}`;
    }
    const { container, ...rendered } = renderWithSteadfetch(render, <Json />, {
      steady,
      wrapper: ({ children }) => <Place value="somewhere">{children}</Place>,
    });
    await time.settle();
    expect(container.textContent).toBe('Lamp somewhere');
    expect(rendered.steady).toBe(steady);
  });

  test.each([false, true])(
    'what is unmounted sends nothing any more, in strict mode: %s',
    async (reactStrictMode) => {
      configure({ reactStrictMode });
      onTestFinished(() => configure({ reactStrictMode: false }));
      const server = fakeServer(answer(503), answer(503), hang);
      const { steady, unmount, queryClient } = renderWithSteadfetch(render, <p>Shop</p>);
      vi.stubGlobal('fetch', server.fetch);
      onTestFinished(() => void vi.unstubAllGlobals());
      const events: SteadfetchEvent['type'][] = [];
      steady.subscribe(({ type }) => void events.push(type));
      for (let count = 0; count < 2; count++) await steady.fetch(origin).catch(() => {});
      const paused = steady.fetch(origin).catch((error: unknown) => error);
      await time.settle();
      expect(events.at(-1)).toBe('pause:start');
      queryClient.setQueryData(['name'], 'Lamp');
      unmount();
      expect(await paused).toMatchObject({ name: 'AbortError' });
      expect(queryClient.getQueryData(['name'])).toBeUndefined();
      await time.advance(60_000);
      expect(server.requests.length).toBe(2);
      expect(screen.queryByText('Shop')).toBeNull();
    },
  );
});
