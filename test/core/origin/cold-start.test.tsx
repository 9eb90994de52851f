import { QueryClient, QueryClientProvider, useQueries } from '@tanstack/react-query';
import { act, render } from '@testing-library/react';
import { useEffect } from 'react';
import { createSteadfetch, type Steadfetch } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { fakeTime } from '../fetch/observe.ts';

beforeEach(fakeTime);

const url = 'https://api.example';

/** Each query has an endpoint of its own. */
const letters = 'abcdefghijklmnopqrst';

/** The connections of a browser over HTTP/1.1. */
const places = 6;

/** A server that begins to answer after so long, as one does that is put to sleep without visitors. */
function coldServer(startsAt: number): typeof fetch {
  const queue: (() => void)[] = [];
  let inUse = 0;
  return (_, init) =>
    new Promise((resolve, reject) => {
      let state: 'queued' | 'open' | 'over' = 'queued';
      const end = (): void => {
        if (state === 'open') inUse--;
        state = 'over';
        if (inUse < places) queue.shift()?.();
      };
      const begin = (): void => {
        if (state === 'over') return end();
        state = 'open';
        inUse++;
        const answer = (): void => {
          if (state !== 'open') return;
          resolve(Response.json('Tea'));
          end();
        };
        setTimeout(answer, Math.max(startsAt - Date.now(), 0) + 100);
      };
      init?.signal?.addEventListener('abort', () => {
        reject(init.signal?.reason);
        if (state !== 'over') end();
      });
      if (inUse < places) begin();
      else queue.push(begin);
    });
}

/** Opens a page of queries. @returns when the first and the last of them had data, and how many failed before. */
async function openPage(
  count: number,
  coldMs: number,
  isAlone: boolean,
): Promise<readonly number[]> {
  const startedAt = Date.now();
  const server = coldServer(startedAt + coldMs);
  const steady: Steadfetch = createSteadfetch({ fetch: server, random: () => 0.5 });
  const client = new QueryClient(isAlone ? {} : { defaultOptions: steady.defaultOptions });
  const read = async (path: string, signal: AbortSignal): Promise<unknown> =>
    isAlone ? (await server(path, { signal })).json() : steady.json(path, { signal });
  const shownAt: number[] = [];
  const failed = new Set<number>();
  function Page() {
    const queries = useQueries({
      queries: Array.from({ length: count }, (__, id) => ({
        queryKey: [id],
        queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
          read(`${url}/part-${letters[id]}`, signal),
      })),
    });
    useEffect(() => {
      for (const [id, { isError }] of queries.entries()) if (isError) failed.add(id);
      const shown = queries.filter(({ isSuccess }) => isSuccess).length;
      while (shownAt.length < shown) shownAt.push(Date.now() - startedAt);
    });
    return null;
  }
  const page = render(
    <QueryClientProvider client={client}>
      <Page />
    </QueryClientProvider>,
  );
  for (let ms = 0; ms < 90_000; ms += 100) await act(() => vi.advanceTimersByTimeAsync(100));
  page.unmount();
  client.clear();
  return [shownAt[0] ?? Infinity, shownAt[count - 1] ?? Infinity, failed.size];
}

test.each([
  [1, 20_000, [20_101, 20_101, 0], [20_101, 20_101, 0]],
  [6, 20_000, [20_101, 20_101, 0], [20_101, 20_299, 0]],
  [20, 20_000, [20_101, 20_401, 0], [20_101, 20_602, 0]],
  [1, 58_000, [58_101, 58_101, 0], [58_101, 58_101, 0]],
  [6, 58_000, [58_101, 58_101, 0], [58_101, 58_451, 0]],
  [20, 58_000, [58_101, 58_401, 0], [58_101, 59_101, 0]],
  // After a minute the page says that something is wrong, and has its data all the same.
  [6, 70_000, [70_101, 70_101, 0], [70_101, 70_701, 5]],
])(
  'a page of %i queries, whose server starts for %i ms, has its data when it has started',
  async (count, coldMs, alone, ours) => {
    expect(await openPage(count, coldMs, true)).toEqual(alone);
    expect(await openPage(count, coldMs, false)).toEqual(ours);
  },
);
