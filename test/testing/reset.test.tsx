import {
  MutationObserver,
  onlineManager,
  QueryClient,
  QueryClientProvider,
} from '@tanstack/react-query';
import { act, render, screen } from '@testing-library/react';
import {
  createSteadfetch,
  mutationOptions,
  profiles,
  retry,
  type Steadfetch,
  type SteadfetchConfig,
  watchConnectivity,
} from 'steadfetch';
import { useConnectivity, useOriginStatus, useSafeSubmit } from 'steadfetch/react';
import { renderWithSteadfetch, resetSteadfetch, virtualTime } from 'steadfetch/testing';
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  answer,
  fakeServer,
  type FakeServer,
  hang,
  origin,
  refuse,
} from '../core/fetch/fake-server.ts';
import { setBrowserOnline } from '../core/react-query/network.ts';

let time: ReturnType<typeof virtualTime>;
beforeEach(() => {
  time = virtualTime(vi, { act: (work) => act(work) });
  return time.restore;
});

function create(server: FakeServer, config: SteadfetchConfig = {}): Steadfetch {
  const steady = createSteadfetch({ fetch: server.fetch, random: () => 0.5, ...config });
  onTestFinished(steady.dispose);
  return steady;
}

const send = (steady: Steadfetch, path: string): Promise<unknown> =>
  steady.fetch(`${origin}${path}`).then(
    ({ status }) => status,
    (error: unknown) => (error as Error).name,
  );

function createShop(server: FakeServer) {
  const steady = create(server, {
    policy: { maxRetries: 0 },
    apis: [{ match: origin, idempotency: profiles.draft }],
  });
  const placeOrder = mutationOptions(steady, {
    mutationFn: (sku: string, { json }) => json(`${origin}/orders`, { json: { sku } }),
  });
  return { steady, placeOrder };
}

function Form({ order }: { readonly order: ReturnType<typeof createShop>['placeOrder'] }) {
  const { submit, unknown } = useSafeSubmit(order, { form: 'checkout' });
  return <button onClick={() => void submit('lamp')}>{unknown ? 'Unknown' : 'Order'}</button>;
}

async function press(): Promise<void> {
  act(() => screen.getByRole('button').click());
  await time.settle();
}

describe('resetSteadfetch', () => {
  test('what was down is not, what was paused is aborted, and who watches hears of it', async () => {
    const server = fakeServer(answer(503), answer(503), hang, answer());
    const steady = create(server);
    function Status() {
      return <p>{useOriginStatus(origin).status}</p>;
    }
    renderWithSteadfetch(render, <Status />, { steady });
    await act(() => Promise.all([send(steady, '/a'), send(steady, '/a')]));
    const paused = send(steady, '/a');
    await time.settle();
    expect([server.requests.length, screen.getByText('down').tagName]).toEqual([2, 'P']);

    act(() => resetSteadfetch(steady));
    expect(await paused).toBe('AbortError');
    await time.settle();
    expect(screen.getByText('up')).toBeDefined();
    void send(steady, '/a');
    await time.settle();
    expect(server.requests.length).toBe(3);
    expect(await act(() => send(steady, '/a'))).toBe(200);
  });

  test('a rate limit is forgotten', async () => {
    const server = fakeServer(answer(429, null, { 'retry-after': '60' }), answer());
    const steady = create(server);
    await send(steady, '/a');
    resetSteadfetch(steady);
    expect(await send(steady, '/a')).toBe(200);
    expect(server.timesMs).toEqual([0, 0]);
  });

  test('a loop that waits for its next attempt ends with its last error', async () => {
    const steady = create(fakeServer(answer(500)));
    const loop = retry(steady, () => steady.fetch(`${origin}/a`)).catch((error: unknown) => error);
    await time.settle();
    resetSteadfetch(steady);
    expect(await loop).toMatchObject({ name: 'HttpError', status: 500 });
  });

  test('the device is no longer offline', async () => {
    setBrowserOnline(false, false);
    const steady = create(fakeServer(refuse), { connectivity: watchConnectivity({ check: '/c' }) });
    function Status() {
      return <p>{useConnectivity().status}</p>;
    }
    renderWithSteadfetch(render, <Status />, { steady });
    await time.settle();
    expect([screen.getByText('offline').tagName, onlineManager.isOnline()]).toEqual(['P', false]);

    setBrowserOnline(true, false);
    await act(async () => resetSteadfetch(steady));
    await time.settle();
    expect([screen.getByText('online').tagName, onlineManager.isOnline()]).toEqual(['P', true]);
  });

  test('a plain mutation of the next test continues none of this one', async () => {
    const server = fakeServer(answer(503), answer(503), answer());
    const steady = create(server, { health: false });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const attempts: number[] = [];
    steady.subscribe(({ type, operation }) => {
      if (type === 'request:start') attempts.push(operation.attempt);
    });
    const put = () =>
      new MutationObserver(client, {
        mutationFn: () => steady.fetch(`${origin}/a`, { method: 'PUT' }),
      })
        .mutate()
        .catch(() => {});
    void put();
    await time.settle();
    resetSteadfetch(steady, client);
    vi.clearAllTimers();
    await time.advance(5000);
    void put();
    await time.settle();
    expect(attempts).toEqual([1, 1]);
  });

  test('the submission of a form whose outcome is unknown is forgotten, with its key', async () => {
    const server = fakeServer(refuse, answer(200, '{}'));
    const { steady, placeOrder } = createShop(server);
    for (const shown of ['Unknown', 'Order']) {
      const { unmount } = renderWithSteadfetch(render, <Form order={placeOrder} />, { steady });
      expect(screen.getByText('Order')).toBeDefined();
      await press();
      expect(screen.getByText(shown)).toBeDefined();
      unmount();
      resetSteadfetch(steady);
    }
    const keys = server.requests.map(({ headers }) => headers.get('idempotency-key'));
    expect(new Set(keys).size).toBe(2);
    expect(Object.keys(sessionStorage)).toEqual([]);
  });

  test('a form that has just ended does not answer for the next test of its client', async () => {
    const server = fakeServer(answer(200, '{}'));
    const { steady, placeOrder } = createShop(server);
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    for (const requests of [1, 2]) {
      const { unmount } = render(
        <QueryClientProvider client={client}>
          <Form order={placeOrder} />
        </QueryClientProvider>,
      );
      await press();
      expect(server.requests.length).toBe(requests);
      unmount();
      resetSteadfetch(steady, client);
    }
  });

  test('anything else than an instance is refused', () => {
    expect(() => resetSteadfetch({} as Steadfetch)).toThrow(
      'resetSteadfetch: its first argument is {}, and must be what createSteadfetch returns.',
    );
  });
});
