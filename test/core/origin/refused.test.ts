import type { SteadfetchError } from 'steadfetch';
import { expect, test } from 'vitest';
import { observe } from '../fetch/observe.ts';
import { createRig, type Rig } from '../react-query/rig.tsx';

const api = 'http://api.example';

const ask = (rig: Rig, own: object = {}) =>
  observe(
    rig.client.fetchQuery({
      ...rig.steady.queryPolicy(own),
      queryKey: ['report', own],
      queryFn: () => rig.steady.json(`${api}/report`),
    }),
  );

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

const refusals = {
  'a 429 without a time': 429,
  'a 429 with Retry-After: 1': { status: 429, headers: { 'retry-after': '1' } },
} as const;

test.each(Object.entries(refusals))('%s uses up no retry', async (_what, refusal) => {
  const rig = createRig({ health: {} });
  rig.server.plan('/report', ...times(6, refusal));
  const asked = ask(rig, { maxRetries: 1 });
  await rig.time.advance(60_000);
  expect(asked.state).toBe('resolved');
  expect(rig.server.sent).toHaveLength(7);
});

test('other failures use up retries, also between refusals', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/report', 429, 'network', 429, 'network', 200);
  const asked = ask(rig, { maxRetries: 1 });
  await rig.time.advance(60_000);
  expect([asked.state, rig.server.sent.length]).toEqual(['rejected', 4]);
});

test('maxRetries: 0 means one attempt, before a rate limit, too', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/report', 429);
  const asked = ask(rig, { maxRetries: 0 });
  await rig.time.advance(60_000);
  expect([asked.state, rig.server.sent.length]).toEqual(['rejected', 1]);
});

test('what is refused for ever is asked ever less often, and ends at its deadline, with the time of the limit', async () => {
  const rig = createRig({ health: {} });
  const startedAt = rig.time.now();
  rig.server.plan('/report', ...times(100, 429));
  const asked = ask(rig);
  await rig.time.advance(100_000);
  const sentAt = [0, 263, 788, 1838, 3938, 7088, 13_388, 25_988, 41_738, 57_488, 73_238, 88_988];
  expect(rig.server.times()).toEqual(sentAt);
  const { decision, retryAt } = asked.error as SteadfetchError;
  expect([decision?.reason, (retryAt ?? NaN) - startedAt]).toEqual(['deadline', 104_738]);
});

test('a POST without a key is sent again after a refusal: it was not done', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/orders', ...times(5, 429));
  const asked = observe(
    rig.client
      .getMutationCache()
      .build(rig.client, {
        ...rig.steady.mutationPolicy({}),
        mutationFn: () => rig.steady.json(`${api}/orders`, { method: 'POST', body: '{}' }),
      })
      .execute(undefined),
  );
  await rig.time.advance(60_000);
  expect([asked.state, rig.server.sent.length]).toEqual(['resolved', 6]);
});
