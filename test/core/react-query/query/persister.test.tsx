import { composePersister, type AnyPersister } from 'steadfetch';
import { type QueryFunctionContext, useQuery } from '@tanstack/react-query';
import { screen } from '@testing-library/react';
import { describe, expect, test, vi } from 'vitest';
import { createRig, type Rig, setOnline } from '../rig.tsx';

const queryKey = ['it'];

function warnings() {
  return vi.spyOn(console, 'warn').mockImplementation(() => {});
}

async function fetchWith(rig: Rig, own: object): Promise<unknown> {
  const result = rig.client.fetchQuery({
    queryKey,
    queryFn: () => rig.steady.json<string>('/a'),
    ...own,
  });
  const settled = result.catch((error: unknown) => error);
  await rig.time.advance(200_000);
  return settled;
}

/** A persister that keeps what it has fetched, as React Query's own do. */
function storing(store: Map<string, unknown>): AnyPersister {
  return async (queryFn, context, query) => {
    if (store.has(query.queryHash)) return store.get(query.queryHash) as never;
    const data = await queryFn(context);
    store.set(query.queryHash, data);
    return data;
  };
}

describe('composePersister(steady, own)', () => {
  test('stores what was fetched, after retries by the policy', async () => {
    const rig = createRig();
    const store = new Map<string, unknown>();
    rig.server.plan('/a', 503, 503, { body: 'A' });
    const own = composePersister(rig.steady, storing(store));
    expect(await fetchWith(rig, own)).toBe('A');
    expect(rig.server.times()).toEqual([0, 500, 1500]);
    expect([...store.values()]).toEqual(['A']);
    const attempts = rig.events.filter(({ type }) => type === 'attempt:start');
    expect(attempts.map(({ operation }) => operation.attempt)).toEqual([1, 2, 3]);
  });

  test('restores without a request, and the operation succeeds', async () => {
    const rig = createRig();
    const store = new Map<string, unknown>([['["it"]', 'old']]);
    const own = composePersister(rig.steady, storing(store));
    expect(await fetchWith(rig, own)).toBe('old');
    expect(rig.server.sent).toEqual([]);
    expect(rig.events.at(-1)).toMatchObject({ type: 'operation:end', result: 'succeeded' });
  });

  test('may restore synchronously', async () => {
    const rig = createRig();
    const own = composePersister(rig.steady, () => 'old' as never);
    expect(await fetchWith(rig, own)).toBe('old');
  });

  test('one that throws is retried like a queryFn that throws', async () => {
    const rig = createRig();
    let runs = 0;
    const own = composePersister(rig.steady, (queryFn, context) => {
      runs++;
      if (runs === 1) throw new Error('the store is locked');
      return queryFn(context);
    });
    expect(await fetchWith(rig, own)).toBe('GET /a 1');
    expect(rig.server.times()).toEqual([1025]);
  });

  test('keeps the policy of its query: attempts, and the time limit of each', async () => {
    const rig = createRig();
    rig.server.plan('/a', 'hang', 'hang', 'hang', 'hang');
    const own = {
      ...rig.steady.queryPolicy({ maxRetries: 1, timeout: 700 }),
      ...composePersister(rig.steady, storing(new Map())),
    };
    await fetchWith(rig, own);
    expect(rig.server.times()).toEqual([0, 1725]);
  });

  test('gets the context as React Query makes it, and its own query', async () => {
    const rig = createRig();
    const seen: unknown[] = [];
    const own = composePersister(rig.steady, (queryFn, context, query) => {
      seen.push(context.client === rig.client, context.queryKey, context.meta, query.queryHash);
      return queryFn(context);
    });
    await fetchWith(rig, { ...own, meta: { from: 'here' } });
    expect(seen).toEqual([true, queryKey, { from: 'here' }, '["it"]']);
  });

  test('wraps the pages of an infinite query, too', async () => {
    const rig = createRig();
    const store = new Map<string, unknown>();
    rig.server.plan('/pages/0', 503, { body: 'A' });
    const result = rig.client.fetchInfiniteQuery({
      queryKey,
      queryFn: ({ pageParam }) => rig.steady.json<string>(`/pages/${pageParam}`),
      initialPageParam: 0,
      ...composePersister(rig.steady, storing(store)),
    });
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 500]);
    expect((await result).pages).toEqual(['A']);
    expect([...store.values()]).toEqual([{ pages: ['A'], pageParams: [0] }]);
  });
});

describe('what a composed persister has stored', () => {
  const stored = () => new Map<string, unknown>([['["it"]', 'old']]);

  function showStored(rig: Rig) {
    const own = composePersister(rig.steady, storing(stored()));
    function Stored() {
      const { data } = useQuery({
        queryKey,
        queryFn: () => rig.steady.json<string>('/a'),
        ...own,
      });
      return <p>{data}</p>;
    }
    rig.show(<Stored />);
  }

  test('is shown offline', async () => {
    const rig = createRig();
    setOnline(false);
    showStored(rig);
    await rig.time.settle();
    expect(screen.getByText('old')).toBeDefined();
    expect(rig.server.sent).toEqual([]);
  });

  test('is restored while the origin of the query is down; a request would wait', async () => {
    const rig = createRig({ health: {} });
    rig.server.plan('/a', 503, 503);
    const store = new Map<string, unknown>();
    const own = composePersister(rig.steady, storing(store));
    const queryFn = () => rig.steady.json<string>('/a');
    const first = rig.client.fetchQuery({ queryKey, queryFn, ...own, retry: 1 });
    first.catch(() => {});
    await rig.time.advance(2000);
    expect(rig.server.sent).toHaveLength(2);
    store.set('["it"]', 'old');
    const next = rig.client.fetchQuery({ queryKey, queryFn, ...own });
    await rig.time.advance(0);
    expect(rig.client.getQueryData(queryKey)).toBe('old');
    expect(await next).toBe('old');
  });
});

describe('a persister of the app in the place of ours', () => {
  test('is told of once, in development, with the remedy; and the policy still holds', async () => {
    const warn = warnings();
    const rig = createRig();
    rig.server.plan('/a', 503, 503, 503, 503);
    await fetchWith(rig, { persister: storing(new Map()) });
    expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
    expect(warn.mock.calls).toEqual([
      [expect.stringMatching(/^\[steadfetch\] .*composePersister\(/s)],
    ]);
  });

  test('is told of nothing while nothing fails', async () => {
    const warn = warnings();
    const rig = createRig();
    await fetchWith(rig, { persister: storing(new Map()) });
    expect(warn).not.toHaveBeenCalled();
  });

  test('is told of nothing when it was composed', async () => {
    const warn = warnings();
    const rig = createRig();
    rig.server.plan('/a', 503, 503, 503, 503);
    await fetchWith(rig, composePersister(rig.steady, storing(new Map())));
    expect(warn).not.toHaveBeenCalled();
  });

  test('is told of nothing in production', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    try {
      const warn = warnings();
      const rig = createRig();
      rig.server.plan('/a', 503, 503, 503, 503);
      await fetchWith(rig, { persister: storing(new Map()) });
      expect(warn).not.toHaveBeenCalled();
      expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

test('the queryFn gets all that React Query puts into the context, and nothing else', async () => {
  const rig = createRig();
  const seen: QueryFunctionContext[] = [];
  const queryFn = (context: QueryFunctionContext): string => {
    seen.push(context);
    return 'fine';
  };
  const meta = { from: 'here' };
  await fetchWith(rig, { queryFn, meta });
  await fetchWith(rig, { queryFn, meta, queryKey: ['bare'], persister: undefined });
  const [ours, bare] = seen;
  expect(Object.keys(ours ?? {}).toSorted()).toEqual(Object.keys(bare ?? {}).toSorted());
  expect(ours).toMatchObject({ client: rig.client, queryKey, meta });
  expect(ours?.signal).toBeInstanceOf(AbortSignal);
  expect(ours?.signal).toBe(ours?.signal);
});
