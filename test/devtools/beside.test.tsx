import { useInfiniteQuery } from '@tanstack/react-query';
import { ReactQueryDevtoolsPanel } from '@tanstack/react-query-devtools/production';
import { screen } from '@testing-library/react';
import { SteadfetchDevtools } from 'steadfetch/devtools';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRig, type Rig } from '../core/react-query/rig.tsx';
import { devtools, open } from './rig.tsx';

beforeEach(() => {
  // jsdom has neither.
  const observer = class {
    observe() {}
    unobserve() {}
    disconnect() {}
  };
  vi.stubGlobal('ResizeObserver', observer);
  vi.stubGlobal('matchMedia', () => new EventTarget());
});
afterEach(() => void vi.unstubAllGlobals());

function Pages({ rig }: { readonly rig: Rig }) {
  const { status } = useInfiniteQuery({
    queryKey: ['pages'],
    queryFn: () => rig.steady.json('/a'),
    initialPageParam: 0,
    getNextPageParam: () => 1,
  });
  return <p>{status}</p>;
}

test("with React Query's devtools open beside them, nothing throws as components come and go", async () => {
  const errors = vi.spyOn(console, 'error');
  const rig = createRig({ health: {} });
  rig.server.plan('/a', 503, 503, 503, 503);
  const app = (isShown: boolean) => (
    <>
      <h1>The app</h1>
      {isShown && <Pages rig={rig} />}
      <ReactQueryDevtoolsPanel client={rig.client} />
      <SteadfetchDevtools />
    </>
  );
  const { rerender } = rig.show(app(true), { strict: true });
  await expect.poll(() => screen.queryByText('TANSTACK')).not.toBeNull();
  open();
  await rig.time.advance(2000);
  expect(devtools().getByRole('row', { name: /GET \/a/ }).textContent).toContain('Down');
  rerender(rig.wrap(app(false), { strict: true }));
  await rig.time.advance(20_000);
  rerender(rig.wrap(app(true), { strict: true }));
  await rig.time.advance(20_000);
  rig.client.clear();
  await rig.time.advance(1000);
  expect(screen.getByText('The app')).toBeDefined();
  expect(errors.mock.calls).toEqual([]);
});
