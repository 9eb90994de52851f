import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'vitest';
import { createRig, type Rig } from '../rig.tsx';

const queryKey = ['orders'];
const failing = Array.from({ length: 60 }, () => 503);

/** The ways in which a queryFn asks for another query. */
const ways: Readonly<Record<string, (client: QueryClient, options: Inner) => Promise<unknown>>> = {
  ensureQueryData: (client, options) => client.ensureQueryData(options),
  fetchQuery: (client, options) => client.fetchQuery(options),
  // Since React Query 5.102.
  ...('query' in QueryClient.prototype && {
    query: (client: QueryClient, options: Inner) => client.query(options),
  }),
  'fetchQuery, with an error of its own about it': (client, options) =>
    client.fetchQuery(options).catch((error: unknown) => {
      throw new Error('There is no user', { cause: error });
    }),
};

/** How the inner query asks its server. */
const clients: Readonly<Record<string, (rig: Rig) => Promise<unknown>>> = {
  'steady.json': (rig) => rig.steady.json('/user'),
  'another client': async (rig) => {
    const answer = await rig.server.fetch('/user');
    if (!answer.ok) throw new Error(`It answered ${answer.status}`);
    return answer.json();
  },
};

interface Inner {
  readonly queryKey: readonly string[];
  readonly queryFn: () => Promise<unknown>;
  readonly retry?: boolean;
}

function open(rig: Rig, queryFn: (client: QueryClient) => Promise<unknown>) {
  const observer = new QueryObserver(rig.client, {
    queryKey,
    queryFn: async ({ client }) => queryFn(client),
  });
  observer.subscribe(() => {});
  return observer;
}

test.each(
  Object.entries(ways).flatMap(([way, ask]) =>
    Object.entries(clients).map(([client, send]) => [way, client, ask, send] as const),
  ),
)(
  'a queryFn that asks for another query by %s (%s) is not run again when that has given up',
  async (_way, client, ask, send) => {
    const rig = createRig();
    rig.server.plan('/user', ...failing);
    const inner = { queryKey: ['user'], queryFn: () => send(rig) };
    const observer = open(rig, (own) => ask(own, inner));
    await rig.time.advance(100_000);
    expect(observer.getCurrentResult().status).toBe('error');
    const times = client === 'steady.json' ? [0, 500, 1500, 3500] : [0, 1025, 3075, 7175];
    expect(rig.server.times()).toEqual(times);
    const ends = rig.events.filter(({ type }) => type === 'operation:end');
    expect(ends.map(({ operation: { attempt } }) => attempt)).toEqual([4, 1]);
  },
);

test.each(Object.entries(ways))(
  'a queryFn that asks for another query by %s has its data once that has them',
  async (_way, ask) => {
    const rig = createRig();
    rig.server.plan('/user', 503, 503);
    const inner = { queryKey: ['user'], queryFn: () => rig.steady.json('/user') };
    const observer = open(rig, (own) => ask(own, inner));
    await rig.time.advance(100_000);
    expect(observer.getCurrentResult().data).toBe('GET /user 3');
    expect(rig.server.times()).toEqual([0, 500, 1500]);
  },
);

test('a queryFn that asks for another query which is not retried is retried itself', async () => {
  const rig = createRig();
  rig.server.plan('/user', ...failing);
  const queryFn = () => rig.steady.json('/user');
  open(rig, (own) => own.fetchQuery({ queryKey: ['user'], queryFn, retry: false }));
  await rig.time.advance(100_000);
  expect(rig.server.times()).toHaveLength(4);
});

test('a queryFn whose own request fails after another query had its data is retried', async () => {
  const rig = createRig();
  rig.server.plan('/user', 503);
  rig.server.plan('/orders', 503, 503);
  const user = { queryKey: ['user'], queryFn: () => rig.steady.json('/user'), staleTime: 60_000 };
  const observer = open(rig, async (own) => {
    await own.fetchQuery(user);
    return rig.steady.json('/orders');
  });
  await rig.time.advance(100_000);
  expect(rig.server.times('/user')).toHaveLength(2);
  expect(rig.server.times('/orders')).toHaveLength(3);
  expect(observer.getCurrentResult().status).toBe('success');
});
