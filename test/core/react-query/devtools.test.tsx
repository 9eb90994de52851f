import { useInfiniteQuery } from '@tanstack/react-query';
import { ReactQueryDevtoolsPanel } from '@tanstack/react-query-devtools/production';
import { act, screen } from '@testing-library/react';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRig, setOnline } from './rig.tsx';

const queryKey = ['pages'];

/** An infinite query whose queryFn does not read its signal. */
function createApp(rig: ReturnType<typeof createRig>, own: object = {}) {
  return function Pages() {
    const { status } = useInfiniteQuery({
      queryKey,
      queryFn: () => rig.steady.json('/a'),
      initialPageParam: 0,
      getNextPageParam: () => 1,
      ...own,
    });
    return <p>{status}</p>;
  };
}

describe('an infinite query whose queryFn does not read its signal', () => {
  test("its component goes while React Query's devtools are open: the app stays", async () => {
    // jsdom has neither.
    const observer = class {
      observe() {}
      unobserve() {}
      disconnect() {}
    };
    vi.stubGlobal('ResizeObserver', observer);
    vi.stubGlobal('matchMedia', () => new EventTarget());
    onTestFinished(() => void vi.unstubAllGlobals());
    const rig = createRig();
    const Pages = createApp(rig);
    const app = (isShown: boolean) => (
      <>
        <h1>The app</h1>
        {isShown && <Pages />}
        <ReactQueryDevtoolsPanel client={rig.client} />
      </>
    );
    const { rerender } = rig.show(app(true));
    // The panel is loaded first.
    await expect.poll(() => screen.queryByText('TANSTACK')).not.toBeNull();
    await rig.time.advance(50);
    rerender(rig.wrap(app(false)));
    await rig.time.advance(1000);
    expect(screen.getByText('The app')).toBeDefined();
  });

  test('it has no observers when that is told, and is collected', async () => {
    const rig = createRig();
    const Pages = createApp(rig, { gcTime: 1000 });
    const { unmount } = rig.show(<Pages />);
    await rig.time.advance(50);
    const counts: number[] = [];
    rig.client.getQueryCache().subscribe(({ type, query }) => {
      if (type === 'observerRemoved') counts.push(query.getObserversCount());
    });
    unmount();
    expect(counts).toEqual([0]);
    await rig.time.advance(2000);
    expect(rig.client.getQueryCache().getAll()).toEqual([]);
  });

  test('it is given up where React Query has paused it', async () => {
    const rig = createRig();
    setOnline(false);
    const Pages = createApp(rig);
    const { unmount } = rig.show(<Pages />);
    await rig.time.advance(50);
    unmount();
    act(() => setOnline(true));
    await rig.time.advance(1000);
    expect(rig.server.sent).toEqual([]);
  });

  test('it is given up where its origin is down', async () => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', 503, 503, 503);
    const Pages = createApp(rig);
    const { unmount } = rig.show(<Pages />);
    await rig.time.advance(2000);
    expect(rig.client.getQueryState(queryKey)?.fetchStatus).toBe('fetching');
    const before = rig.server.sent.length;
    unmount();
    expect(rig.client.getQueryState(queryKey)?.fetchStatus).toBe('idle');
    await rig.time.advance(60_000);
    expect(rig.server.sent.length).toBe(before);
  });
});
