import { QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

const api = 'http://api.example';
const down = (count: number): { status: number; afterMs: number }[] =>
  Array.from({ length: count }, () => ({ status: 503, afterMs: 50 }));
const get = ({ steady }: Rig, path: string, signal?: AbortSignal) =>
  steady.json<string>(api + path, signal && { signal });
const track = ({ steady }: Rig): void =>
  void steady.fetch(`${api}/track`, { method: 'POST', body: 'seen' }).catch(() => {});

/** When the query is sent again, and when its data are there. */
async function watch(rig: Rig, queryFn: (signal: AbortSignal) => Promise<unknown>) {
  let shownAt: number | undefined;
  const observer = new QueryObserver<unknown>(rig.client, {
    queryKey: ['page'],
    queryFn: ({ signal }) => queryFn(signal),
  });
  observer.subscribe(({ data }) => {
    if (data !== undefined) shownAt ??= rig.elapsed();
  });
  await rig.time.advance(30_000);
  return shownAt;
}

// A queryFn may send several requests, and one of them fails. The others are not about it.
test('eight ids are read at once, one of which fails for 6 s: its query has all of them when React Query alone has', async () => {
  const rig = createRig({ health: {} });
  const ids = [1, 2, 3, 4, 5, 6, 7, 8].map((id) => `/items/${id}`);
  for (const path of ids)
    rig.server.plan(path, ...Array.from({ length: 9 }, () => ({ afterMs: 50 })));
  rig.server.unplan('/items/3');
  rig.server.plan('/items/3', ...down(3));
  const shownAt = await watch(rig, (signal) =>
    Promise.all(ids.map((path) => get(rig, path, signal))),
  );
  expect([shownAt, rig.server.times('/items/3')]).toEqual([7374, [0, 75, 3174, 7324]]);
});

test.each(['before', 'after'])(
  'what a queryFn sends beside its request, %s it, does not hold the query back where that is down',
  async (when) => {
    const rig = createRig({ health: {} });
    rig.server.plan('/track', ...down(1000));
    rig.server.plan('/a', ...down(1), { afterMs: 50 });
    for (let times = 0; times < 3; times++) {
      track(rig);
      void get(rig, '/b');
      await rig.time.advance(1000);
    }
    const from = rig.elapsed();
    const shownAt = await watch(rig, (signal) => {
      if (when === 'before') track(rig);
      const page = get(rig, '/a', signal);
      if (when === 'after') track(rig);
      return page;
    });
    expect(rig.server.times('/a').map((at) => at - from)).toEqual([0, 75]);
    expect((shownAt ?? 0) - from).toBe(125);
  },
);

test('a poll does not wait where an optional request of its query has failed', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/optional', ...down(1000));
  const queryFn = async ({ signal }: { readonly signal: AbortSignal }) => {
    const page = await get(rig, '/a', signal);
    await get(rig, '/optional', signal).catch(() => 'none');
    return page;
  };
  const options = { queryKey: ['page'], queryFn, refetchInterval: 3000 };
  const observer = new QueryObserver(rig.client, options);
  const begun: number[] = [];
  rig.client.getQueryCache().subscribe((event) => {
    if (event.type === 'updated' && event.action.type === 'fetch') begun.push(rig.elapsed());
  });
  observer.subscribe(() => {});
  await rig.time.advance(30_000);
  expect(begun.length).toBeGreaterThan(6);
  expect(rig.server.times('/a')).toEqual(begun);
});

type Get = (path: string) => Promise<string | undefined>;

/** Page functions that make do with what is answered. */
const makeshift: Readonly<Record<string, (ask: Get) => Promise<unknown>>> = {
  'leaves out what has failed': async (ask) => {
    const all = await Promise.allSettled(['/a', '/b', '/c'].map(ask));
    if (all.every(({ status }) => status === 'rejected')) throw new Error('All have failed.');
    return all.map((one) => one.status === 'fulfilled');
  },
  'catches the failure of each but one': async (ask) => {
    const optional = (path: string) => ask(path).catch(() => undefined);
    const all = await Promise.all([ask('/a'), optional('/b'), optional('/c')]);
    return all.map((one) => one !== undefined);
  },
  'catches the failure of the first': async (ask) => {
    const optional = ask('/a').catch(() => undefined);
    const all = await Promise.all([optional, ask('/b'), ask('/c')]);
    return all.map((one) => one !== undefined);
  },
};

const clients = {
  'steady.json': ({ steady }: Rig, path: string, signal: AbortSignal) =>
    steady.json<string>(api + path, { signal }),
  'steady.rawFetch': async ({ steady }: Rig, path: string, signal: AbortSignal) => {
    const response = await steady.rawFetch(api + path, { signal });
    if (!response.ok) throw new Error(`It answered ${response.status}`);
    return (await response.json()) as string;
  },
};

const troubles = { 'answers 503': 503, 'answers 429': 429, 'gives no answer': 'network' } as const;

// A probe that fails, and a sibling that is answered at the end of the outage, are of two times.
test.each(
  Object.entries(makeshift).flatMap(([what, page]) =>
    Object.entries(clients).flatMap(([client, ask]) =>
      Object.entries(troubles).flatMap(([trouble, answer]) =>
        [3000, 10_000, 25_000].map((ms) => [what, client, trouble, ms, page, ask, answer] as const),
      ),
    ),
  ),
)(
  'a page that %s (%s) has all its parts after an outage in which its server %s for %i ms',
  async (_what, _client, _trouble, ms, page, ask, answer) => {
    let rig: Rig | undefined;
    const send = async (): Promise<Response> => {
      const isDown = (rig?.elapsed() ?? 0) < ms;
      await new Promise((come) => setTimeout(come, 50));
      if (!isDown) return Response.json('here');
      if (answer === 'network') throw new TypeError('Failed to fetch');
      return new Response(null, { status: answer });
    };
    const made = (rig = createRig({ health: {}, fetch: send }));
    const observer = new QueryObserver(made.client, {
      queryKey: ['page'],
      queryFn: ({ signal }) => page((path) => ask(made, path, signal)),
    });
    const shown: unknown[] = [];
    observer.subscribe(({ data }) => {
      if (data !== undefined && shown.at(-1) !== data) shown.push(data);
    });
    await made.time.advance(90_000);
    expect(shown).toEqual([[true, true, true]]);
  },
);

test.each([0, 1, 2])(
  'a page that leaves out what has failed is shown where its part %i stays broken after an outage of all',
  async (broken) => {
    let rig: Rig | undefined;
    const send = async (input: RequestInfo | URL): Promise<Response> => {
      const url = input instanceof Request ? input.url : input.toString();
      const isDown = (rig?.elapsed() ?? 0) < 3000 || url.endsWith('abc'.charAt(broken));
      await new Promise((come) => setTimeout(come, 50));
      return Response.json('here', { status: isDown ? 503 : 200 });
    };
    const made = (rig = createRig({ health: {}, fetch: send }));
    const page = makeshift['leaves out what has failed'];
    const observer = new QueryObserver(made.client, {
      queryKey: ['page'],
      queryFn: ({ signal }) => page?.((path) => clients['steady.json'](made, path, signal)),
    });
    observer.subscribe(() => {});
    await made.time.advance(10_000);
    expect(observer.getCurrentResult().data).toEqual([0, 1, 2].map((part) => part !== broken));
  },
);
