import { useMutation, useQuery } from '@tanstack/react-query';
import { limitConcurrency, mutationOptions, rateLimitFields, retry } from 'steadfetch';
import { inspect } from 'steadfetch/devtools';
import { expect, test } from 'vitest';
import { createRig, type Rig } from '../core/react-query/rig.tsx';

function Item({ rig, path }: { readonly rig: Rig; readonly path: string }) {
  useQuery({ queryKey: [path], queryFn: () => rig.steady.json(path) });
  return null;
}

test('what is known of an endpoint that is down, and of what waits for it', async () => {
  const rig = createRig({ health: {}, concurrency: limitConcurrency({ maxInFlight: 8 }) });
  rig.server.plan('/orders/1', 503, 503, 503);
  rig.server.plan('/orders/2', 503, 503, 503);
  rig.show(
    <>
      <Item rig={rig} path="/orders/1" />
      <Item rig={rig} path="/orders/2" />
    </>,
  );
  await rig.time.settle();
  expect(inspect(rig.steady)).toMatchInlineSnapshot(`
    {
      "at": 1767225600000,
      "isOffline": false,
      "operations": [
        {
          "attempt": 2,
          "id": 1,
          "kind": "query",
          "maxAttempts": 4,
          "mutationKey": undefined,
          "paused": 1,
          "queryKey": [
            "/orders/1",
          ],
          "reason": "server-down",
          "request": "GET /orders/1",
          "retryAt": 1767225601050,
          "status": "paused",
        },
        {
          "attempt": 2,
          "id": 2,
          "kind": "query",
          "maxAttempts": 4,
          "mutationKey": undefined,
          "paused": 1,
          "queryKey": [
            "/orders/2",
          ],
          "reason": "server-down",
          "request": "GET /orders/2",
          "retryAt": 1767225601050,
          "status": "paused",
        },
      ],
      "origins": [
        {
          "downSince": 1767225600000,
          "endpoints": [
            {
              "downSince": 1767225600000,
              "endpoint": "GET /orders/:id",
              "failures": 2,
              "failuresUntilDown": undefined,
              "probedBy": "this-tab",
              "retryAt": 1767225601050,
              "status": "down",
              "usualFailureRatio": 0,
              "usualLatencyMs": undefined,
              "waiting": 2,
            },
          ],
          "inFlight": 0,
          "limits": [],
          "maxInFlight": 8,
          "origin": "http://localhost:3000",
          "partition": undefined,
          "probedBy": "this-tab",
          "retryAt": 1767225601050,
          "status": "down",
          "waiting": 2,
        },
      ],
      "tabs": {
        "areShared": false,
        "isHidden": false,
        "probes": [
          {
            "by": "this-tab",
            "endpoint": "GET /orders/:id",
            "origin": "http://localhost:3000",
          },
        ],
      },
    }
  `);
});

test('what a snapshot has can be cloned, and is what JSON reads again', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/orders', 503, 503, 503);
  rig.show(<Item rig={rig} path="/orders" />);
  await rig.time.settle();
  const inspection = inspect(rig.steady);
  expect(structuredClone(inspection)).toEqual(inspection);
  expect(JSON.parse(JSON.stringify(inspection))).toEqual(inspection);
});

test('it is a value: what happens later does not change it', async () => {
  const rig = createRig();
  rig.server.plan('/orders', 503);
  rig.show(<Item rig={rig} path="/orders" />);
  await rig.time.settle();
  const before = inspect(rig.steady);
  expect(before.operations.map(({ status, retryAt }) => [status, retryAt])).toEqual([
    ['waiting', rig.time.now() + 500],
  ]);
  await rig.time.advance(500);
  expect(before.operations).toHaveLength(1);
  expect(inspect(rig.steady).operations).toEqual([]);
});

test('it says how many more failures there may be before an endpoint is taken for down', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/orders', 503, { body: 'ok' });
  rig.show(<Item rig={rig} path="/orders" />);
  await rig.time.settle();
  const endpoint = () => inspect(rig.steady).origins[0]?.endpoints[0];
  expect(endpoint()).toMatchObject({ status: 'up', failures: 1, failuresUntilDown: 1 });
  await rig.time.advance(500);
  expect(endpoint()).toMatchObject({ status: 'up', failures: 0, failuresUntilDown: 3 });
});

test('a Retry-After and a rate limit are limits of what they speak for', async () => {
  const rig = createRig({ rateLimit: rateLimitFields() });
  const headers = { RateLimit: '"default";r=3;t=30' };
  rig.server.plan('/a', { status: 429, headers: { 'Retry-After': '20' } });
  rig.server.plan('/b', { headers });
  rig.show(
    <>
      <Item rig={rig} path="/a" />
      <Item rig={rig} path="/b" />
    </>,
  );
  await rig.time.settle();
  const { origins, at } = inspect(rig.steady);
  expect(origins[0]?.limits).toEqual([
    { scope: 'GET /b', pausedUntil: undefined, remaining: 3, resetAt: at + 30_000 },
    { scope: 'GET /a', pausedUntil: at + 21_000, remaining: undefined, resetAt: undefined },
  ]);
  expect(origins[0]?.status).toBe('rate-limited');
});

test('mutations have their key, and a loop of retry is there without one', async () => {
  const rig = createRig();
  rig.server.plan('/orders', 'hang');
  rig.server.plan('/loop?token=1', 503);
  const order = mutationOptions(rig.steady, {
    mutationKey: ['order'],
    mutationFn: (sku: string, { json }) => json('/orders', { method: 'POST', json: sku }),
  });
  function Order() {
    const { mutate } = useMutation(order);
    return <button onClick={() => mutate('kite')}>Order</button>;
  }
  const { getByRole } = rig.show(
    <>
      <Item rig={rig} path="/other" />
      <Order />
    </>,
  );
  await rig.time.settle();
  getByRole('button').click();
  void retry(rig.steady, ({ signal }) => rig.steady.fetch('/loop?token=1', { signal }));
  await rig.time.settle();
  expect(
    inspect(rig.steady).operations.map(({ kind, mutationKey, status, request, maxAttempts }) => ({
      kind,
      mutationKey,
      status,
      request,
      maxAttempts,
    })),
  ).toEqual([
    {
      kind: 'mutation',
      mutationKey: ['order'],
      status: 'sending',
      request: 'POST /orders',
      maxAttempts: 4,
    },
    {
      kind: 'call',
      mutationKey: undefined,
      status: 'waiting',
      request: 'GET /loop',
      maxAttempts: 4,
    },
  ]);
  await rig.time.advance(500);
  expect(inspect(rig.steady).operations.map(({ kind }) => kind)).toEqual(['mutation']);
});

test('what is known can be written as JSON, also where keys have a BigInt or are rings', async () => {
  const rig = createRig();
  const ring: unknown[] = ['ring'];
  ring.push(ring);
  for (const [path, queryKey] of [
    ['/big', ['big', { id: 12n }]],
    ['/ring', ring],
  ] as const) {
    rig.server.plan(path, 'hang');
    const queryFn = () => rig.steady.json(path);
    const own = { queryKeyHashFn: () => path };
    rig.client.fetchQuery({ ...own, queryKey, queryFn }).catch(() => {});
  }
  await rig.time.settle();
  const inspection = inspect(rig.steady);
  expect(inspection.operations.map(({ queryKey }) => queryKey)).toEqual([
    ['big', { id: '12' }],
    undefined,
  ]);
  const written = JSON.parse(JSON.stringify(inspection)) as typeof inspection;
  expect(written.operations).toMatchObject([{ status: 'sending' }, { status: 'sending' }]);
  expect(structuredClone(inspection)).toEqual(inspection);
});

test('anything but an instance is refused', () => {
  expect(() => inspect({} as never)).toThrow(
    'inspect: its first argument is {}, and must be what createSteadfetch returns.',
  );
});

test('an endpoint that waits for the limit of its API is rate-limited, and so until the end of that', async () => {
  const rig = createRig({ apis: [{ match: '/api', limitsApplyTo: 'api' }] });
  rig.server.plan('/api/a', { status: 429, headers: { 'Retry-After': '20' } });
  rig.show(<Item rig={rig} path="/api/a" />);
  await rig.time.settle();
  rig.show(<Item rig={rig} path="/api/b" />);
  await rig.time.settle();
  const { origins, at } = inspect(rig.steady);
  expect(origins[0]?.endpoints).toMatchObject([
    { endpoint: 'GET /api/b', status: 'rate-limited', retryAt: at + 21_000, waiting: 1 },
  ]);
});
