import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { act, render } from '@testing-library/react';
import { createSteadfetch } from 'steadfetch';
import { useRetryStatus } from 'steadfetch/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';
import { testTimeoutMs } from '../../setup/patience.ts';

// virtualTime lets everything settle after every single timer: too slow for thousands of them.
beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1), toNotFake: ['setImmediate', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

/** Fires all timers of this time at once, and then lets happen what they have set off. */
const advance = (ms: number): Promise<void> =>
  act(async () => {
    vi.advanceTimersByTime(ms);
    for (let turn = 0; turn < 20; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      vi.advanceTimersByTime(0);
    }
  });

/** Counts who is subscribed to the two caches, besides what React Query itself needs. */
function countSubscribers(client: QueryClient) {
  const count = { subscribed: 0, now: 0 };
  for (const cache of [client.getQueryCache(), client.getMutationCache()]) {
    const subscribe = cache.subscribe.bind(cache);
    cache.subscribe = (listener: never) => {
      const end = subscribe(listener);
      count.subscribed++;
      count.now++;
      return () => {
        count.now--;
        end();
      };
    };
  }
  return count;
}

/** Answers after 10 ms, so that every transition is seen for itself. */
const answer = async (response: Response): Promise<Response> => {
  await new Promise((resolve) => setTimeout(resolve, 10));
  return response;
};

const numbers = Array.from({ length: 1000 }, (_, index) => index);

// What counts is the number of renders; the machine may take its time.
const options = { timeout: testTimeoutMs };

test(
  '1,000 components with 1,000 retrying queries: one subscription to each cache, renders at transitions only',
  options,
  async () => {
    let sent = 0;
    const fetch = (): Promise<Response> => {
      sent++;
      return answer(sent <= 2000 ? new Response(null, { status: 503 }) : Response.json('Tea'));
    };
    const steady = createSteadfetch({ fetch, policy: { backoff: 'none' }, ...noOrigin });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const subscribers = countSubscribers(client);
    const renders = numbers.map((): string[] => []);

    function Item({ name }: { readonly name: number }) {
      useQuery({
        queryKey: [name],
        queryFn: ({ signal }) => steady.json('/a', { signal }),
        notifyOnChangeProps: [],
      });
      return null;
    }
    function Status({ name }: { readonly name: number }) {
      const { status, attempt } = useRetryStatus({ queryKey: [name] });
      renders[name]?.push(`${status} ${attempt}`);
      return null;
    }
    const { unmount } = render(
      <QueryClientProvider client={client}>
        {numbers.map((name) => (
          <Item key={name} name={name} />
        ))}
        {numbers.map((name) => (
          <Status key={name} name={name} />
        ))}
      </QueryClientProvider>,
    );
    for (const ms of [0, 10, 1000, 10, 2000, 10]) await advance(ms);
    expect(sent).toBe(3000);
    const story = [
      'idle 0',
      'sending 1',
      'waiting 1',
      'sending 2',
      'waiting 2',
      'sending 3',
      'succeeded 3',
    ];
    expect(renders).toEqual(numbers.map(() => story));
    // Two more are those of the instance, until it is disposed.
    expect(subscribers).toEqual({ subscribed: 3, now: 3 });
    unmount();
    expect(subscribers.now).toBe(2);
    steady.dispose();
    expect(subscribers.now).toBe(0);
    client.clear();
  },
);

test('1,000 components that watch one query: one subscription to each cache', options, async () => {
  const fetch = (): Promise<Response> => answer(new Response(null, { status: 503 }));
  const steady = createSteadfetch({ fetch, policy: { backoff: 'none', maxRetries: 1 } });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const subscribers = countSubscribers(client);
  let renders = 0;
  function Status() {
    useRetryStatus({ queryKey: ['a'] });
    renders++;
    return null;
  }
  const { unmount } = render(
    <QueryClientProvider client={client}>
      {numbers.map((number) => (
        <Status key={number} />
      ))}
    </QueryClientProvider>,
  );
  expect(renders).toBe(1000);
  void client.prefetchQuery({ queryKey: ['a'], queryFn: () => steady.json('/a') });
  // Idle; then sending, waiting, sending and failed.
  for (const [index, ms] of [0, 10, 1000, 10].entries()) {
    await advance(ms);
    expect(renders).toBe(1000 * (index + 2));
  }
  // Two more are those of the instance, until it is disposed.
  expect(subscribers).toEqual({ subscribed: 3, now: 3 });
  unmount();
  expect(subscribers.now).toBe(2);
  steady.dispose();
  expect(subscribers.now).toBe(0);
  client.clear();
});
