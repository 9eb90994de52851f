import { QueryClientProvider } from '@tanstack/react-query';
import { createMemoryHistory, createRouter, RouterProvider } from '@tanstack/react-router';
import { act, fireEvent, render, screen } from '@testing-library/react';
import type { ReactNode } from 'react';
import { createMemoryRouter, RouterProvider as ReactRouterProvider } from 'react-router';
import { resetSteadfetch, virtualTime } from 'steadfetch/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { routes } from './recipes/react-router.tsx';
import { queryClient, server, steady } from './recipes/steady.ts';
import { routeTree } from './recipes/tanstack-router.tsx';

interface Router {
  readonly app: ReactNode;
  readonly navigate: (path: string) => unknown;
}

const routers: Readonly<Record<string, (path: string) => Router>> = {
  'React Router': (path) => {
    const router = createMemoryRouter(routes, { initialEntries: [path] });
    onTestFinished(() => router.dispose());
    return { app: <ReactRouterProvider router={router} />, navigate: (to) => router.navigate(to) };
  },
  'TanStack Router': (path) => {
    const history = createMemoryHistory({ initialEntries: [path] });
    const router = createRouter({ routeTree, history });
    return {
      app: <RouterProvider router={router} />,
      navigate: (to) => router.navigate({ to } as never),
    };
  },
};

describe.each(Object.entries(routers))('%s', (name, open) => {
  const path = (id: string): string => `/products/${name.charAt(0)}${id}`;

  /** Opens the page of a product at the time 0. */
  async function start(id: string) {
    const time = virtualTime(vi, { act: (work) => act(work) });
    const startedAt = time.now();
    vi.spyOn(console, 'error').mockImplementation(() => {});
    vi.spyOn(window, 'scrollTo').mockImplementation(() => {});
    onTestFinished(() => {
      resetSteadfetch(steady, queryClient);
      time.restore();
      vi.restoreAllMocks();
    });
    const router = open(path(id));
    const { container } = render(
      <QueryClientProvider client={queryClient}>{router.app}</QueryClientProvider>,
    );
    await time.advance(0);
    return {
      time,
      router,
      text: () => container.textContent,
      times: () => server.times(`/api${path(id)}`).map((at) => at - startedAt),
    };
  }

  test('a loader whose first attempt is a 503 is retried, and its page rendered', async () => {
    server.plan(`/api${path('1')}`, 503, { body: { name: 'kite' } });
    const { time, times } = await start('1');
    await time.advance(499);
    expect(screen.queryByRole('heading')).toBeNull();
    await time.advance(1);
    expect(screen.getByRole('heading').textContent).toBe('kite');
    expect(times()).toEqual([0, 500]);
  });

  test('the error boundary of the route shows the final failure, and tries again', async () => {
    server.plan(`/api${path('2')}`, 500, 404, { body: { name: 'kite' } });
    const { time, times, text } = await start('2');
    await time.advance(500);
    expect(text()).toBe('Failed (http). Try again');
    fireEvent.click(screen.getByRole('button'));
    // TanStack Router shows its pending component for half a second or more.
    await time.advance(500);
    expect(screen.getByRole('heading').textContent).toBe('kite');
    expect(times()).toEqual([0, 500, 500]);
  });

  test('while the server is down the boundary has the floor at once', async () => {
    server.plan(`/api${path('3')}`, 503, 503, 503, 503);
    const { time, times, text } = await start('3');
    await time.advance(500);
    expect(text()).toBe('Failed (http). Try again');
    expect(times()).toEqual([0, 500]);
  });

  test('a navigation that is given up ends its request', async () => {
    server.plan(`/api${path('4')}`, { body: { name: 'kite' } });
    server.plan(`/api${path('5')}`, 'hang');
    const { time, router } = await start('4');
    void router.navigate(path('5'));
    await time.advance(100);
    void router.navigate(path('4'));
    await time.advance(0);
    expect(server.sent.at(-1)?.abortedAt).toBe(time.now());
    expect(screen.getByRole('heading').textContent).toBe('kite');
  });
});
