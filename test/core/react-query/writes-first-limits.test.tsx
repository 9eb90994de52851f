import { InfiniteQueryObserver, MutationObserver, QueryObserver } from '@tanstack/react-query';
import { defineIdempotency, mutationOptions } from 'steadfetch';
import { createOutbox } from 'steadfetch/outbox';
import { onTestFinished, test, vi, expect } from 'vitest';
import { setBrowserOnline } from './network.ts';
import { createRig, type Rig } from './rig.tsx';

const base = 'http://localhost:3000';

function open(config: Parameters<typeof createRig>[0]): Rig {
  vi.spyOn(console, 'warn').mockImplementation(() => {});
  const rig = createRig(config);
  rig.client.mount();
  onTestFinished(() => rig.client.unmount());
  return rig;
}

/** A component that shows what this path answers. */
function show({ client, steady }: Rig, path: string, method = 'GET'): QueryObserver {
  const observer = new QueryObserver(client, {
    queryKey: [path],
    queryFn: ({ signal }) => steady.json(`${base}/${path}`, { method, signal }),
  });
  onTestFinished(observer.subscribe(() => {}));
  return observer as unknown as QueryObserver;
}

/** A server that is down for a while, and takes so long for a write. */
function openOutage(writeMs: number) {
  const server = { isDown: false, sent: [] as string[] };
  const wait = (ms: number): Promise<void> => new Promise((done) => void setTimeout(done, ms));
  const rig = open({
    health: {},
    fetch: async (input, init) => {
      const { method, url } = new Request(input, init);
      const { pathname, search } = new URL(url);
      server.sent.push(`${method} ${pathname}${search}`);
      if (server.isDown) return new Response('{}', { status: 503 });
      await wait(method === 'GET' ? 50 : writeMs);
      return Response.json({});
    },
  });
  const write = (): void => {
    const options = mutationOptions(rig.steady, {
      policy: { timeout: 200_000 },
      mutationFn: (_: undefined, { fetch }) => fetch(`${base}/w`, { method: 'PUT' }),
    });
    void new MutationObserver(rig.client, options).mutate(undefined).catch(() => {});
  };
  return { ...rig, server, write };
}

test('an entry of the outbox that is only slow keeps no refetch back', async () => {
  const apis = [{ match: base, idempotency: defineIdempotency({ header: 'Idempotency-Key' }) }];
  const rig = open({ apis });
  const { client, time, steady, server } = rig;
  const shown = show(rig, 'a');
  const outbox = createOutbox({
    steady,
    queryClient: client,
    handlers: {
      add: {
        mutationFn: (body: string, { fetch }) => fetch(`${base}/w`, { method: 'POST', body }),
      },
    },
  });
  onTestFinished(() => outbox.dispose());
  await time.advance(1000);
  server.plan('/w', { afterMs: 25_000 });
  void outbox.submit('add', 'photo').delivered.catch(() => {});
  await time.advance(2000);
  const before = server.times('/a').length;
  void shown.refetch();
  await time.advance(6000);
  expect(server.times('/a').slice(before)).toEqual([3000]);
});

test('after an outage an infinite query has its pages again, and no more', async () => {
  const { client, time, steady, server, write } = openOutage(400);
  const observer = new InfiniteQueryObserver(client, {
    queryKey: ['list'],
    queryFn: ({ signal, pageParam }) => steady.json(`${base}/items?p=${pageParam}`, { signal }),
    initialPageParam: 0,
    getNextPageParam: (_page, _pages, last: number) => last + 1,
  });
  onTestFinished(observer.subscribe(() => {}));
  await time.advance(100);
  void observer.fetchNextPage();
  await time.advance(100);
  server.isDown = true;
  for (let second = 0; second < 8; second++) {
    void client.invalidateQueries({ queryKey: ['list'] });
    await time.advance(1000);
  }
  write();
  await time.advance(3100);
  server.isDown = false;
  await time.advance(60_000);
  expect(observer.getCurrentResult().data?.pageParams).toEqual([0, 1]);
});

test('a write that takes minutes once it is sent keeps no refetch back', async () => {
  const rig = openOutage(90_000);
  const { client, time, elapsed, server, write } = rig;
  const shown = show(rig as unknown as Rig, 'a');
  await time.advance(1000);
  server.isDown = true;
  for (let second = 0; second < 8; second++) {
    void client.invalidateQueries();
    await time.advance(1000);
  }
  write();
  await time.advance(2000);
  server.isDown = false;
  await time.advance(20_000);
  const askedAt = elapsed();
  let answeredAt = 0;
  void shown.refetch().then(() => (answeredAt = elapsed()));
  await time.advance(11_000);
  expect(answeredAt - askedAt).toBe(50);
});

test.each(['POST', 'GET'])(
  'a slow query by %s is no write that others wait for',
  async (method) => {
    const rig = open({});
    const { client, time, steady, server, elapsed } = rig;
    show(rig, 'a', method);
    await time.advance(1000);
    setBrowserOnline(false);
    await time.advance(1000);
    let savedAt = 0;
    void new MutationObserver(client, {
      mutationFn: () => steady.fetch(`${base}/w`, { method: 'POST' }),
      onSettled: () => client.invalidateQueries({ queryKey: ['a'] }),
    })
      .mutate()
      .then(() => (savedAt = elapsed()));
    await time.advance(1000);
    server.plan('/w', { afterMs: 200 });
    server.plan('/slow', { afterMs: 4000 });
    setBrowserOnline(true);
    await time.advance(10);
    show(rig, 'slow', method);
    await time.advance(20_000);
    expect(savedAt).toBe(3200);
  },
);

test('a write that waits for a later one is not sent once the instance is disposed of', async () => {
  const { client, time, steady, server } = open({});
  server.plan('/w', 503, { afterMs: 3000, status: 422 });
  const save = (body: string): void => {
    const options = mutationOptions(steady, {
      mutationFn: (_: undefined, { fetch }) => fetch(`${base}/w`, { method: 'PUT', body }),
    });
    void new MutationObserver(client, options).mutate(undefined).catch(() => {});
  };
  save('1');
  await time.advance(100);
  save('2');
  await time.advance(1000);
  steady.dispose();
  await time.advance(20_000);
  expect(server.times('/w')).toEqual([0, 100]);
});
