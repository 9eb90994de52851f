import { QueryObserver } from '@tanstack/react-query';
import { mergeDefaultOptions } from 'steadfetch';
import { expect, test } from 'vitest';
import { createRig, type Rig, setOnline } from '../rig.tsx';

const url = 'http://api.example/items/1';

/** How an app says that a query is not retried. */
const words: readonly (readonly [what: string, make: (rig: Rig) => object])[] = [
  ['retry: false of the query', () => ({ retry: false })],
  ['retry: 0 of the query', () => ({ retry: 0 })],
  ['queryPolicy({ maxRetries: 0 })', ({ steady }) => steady.queryPolicy({ maxRetries: 0 })],
  [
    'retry: false in the default options',
    ({ client, steady }) => {
      client.setDefaultOptions(mergeDefaultOptions(steady, { queries: { retry: false } }));
      return {};
    },
  ],
  [
    'retry: false of its key',
    ({ client }) => {
      client.setQueryDefaults(['item'], { retry: false });
      return {};
    },
  ],
];

/** Its endpoint and its origin are down: two URLs, and this one, have failed. */
async function breakAll(rig: Rig): Promise<void> {
  for (const path of ['/a', '/b', '/items/1']) {
    rig.server.plan(path, ...Array.from({ length: 1000 }, () => ({ status: 503, afterMs: 50 })));
    const queryFn = () => rig.steady.json(`http://api.example${path}`);
    const observer = new QueryObserver(rig.client, { queryKey: [path], queryFn });
    observer.subscribe(() => {});
  }
  await rig.time.advance(2000);
}

test.each(words)('%s: its failure is told at once while its server is down', async (_, make) => {
  const rig = createRig({ health: {} });
  await breakAll(rig);
  const own = make(rig);
  const took: number[] = [];
  for (let times = 0; times < 5; times++) {
    const from = rig.elapsed();
    const queryFn = () => rig.steady.json<string>(url);
    const ended = rig.client.fetchQuery({ queryKey: ['item'], queryFn, ...own });
    ended.catch(() => took.push(rig.elapsed() - from));
    await rig.time.advance(4000);
  }
  expect(took).toHaveLength(5);
  expect(Math.max(...took)).toBe(50);
});

test.each(words)(
  '%s: its data come with its next fetch once its server is back',
  async (_, make) => {
    const rig = createRig({ health: {} });
    await breakAll(rig);
    const own = make(rig);
    const queryFn = () => rig.steady.json<string>(url);
    const query = { queryKey: ['item'], queryFn, ...own };
    await Promise.all([rig.client.fetchQuery(query).catch(() => {}), rig.time.advance(3000)]);
    rig.server.unplan('/items/1');
    const from = rig.elapsed();
    let at: number | undefined;
    void rig.client.fetchQuery(query).then(() => (at = rig.elapsed() - from));
    await rig.time.advance(3000);
    expect(at).toBe(0);
  },
);

test('it is not told twice of one failure: within 1.2 s of a request, the next one is not sent', async () => {
  const rig = createRig({ health: {} });
  await breakAll(rig);
  const sent = (): number => rig.server.times('/items/1').length;
  const before = sent();
  const queryFn = () => rig.steady.json<string>(url);
  const errors: unknown[] = [];
  for (let times = 0; times < 4; times++) {
    const query = { queryKey: ['item', times], queryFn, retry: false };
    rig.client.fetchQuery(query).catch((error: unknown) => errors.push(error));
  }
  await rig.time.advance(1000);
  expect(errors).toHaveLength(4);
  expect(sent() - before).toBeLessThanOrEqual(1);
});

test('offline it waits for the network, as with React Query alone', async () => {
  const rig = createRig({ health: {} });
  rig.client.mount();
  setOnline(false);
  const queryFn = () => rig.steady.json<string>(url);
  rig.client.fetchQuery({ queryKey: ['item'], queryFn, retry: false }).catch(() => {});
  await rig.time.advance(5000);
  expect(rig.client.getQueryState(['item'])?.fetchStatus).toBe('paused');
  setOnline(true);
  await rig.time.advance(100);
  rig.client.unmount();
  expect(rig.client.getQueryData(['item'])).toBe('GET /items/1 1');
});
