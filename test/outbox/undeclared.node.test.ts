import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { createSteadfetch, mutationOptions, profiles } from 'steadfetch';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { settle, createBrowser, shop } from './rig.ts';
import { createVirtualClock } from '../core/origin/virtual-clock.ts';
import { noOrigin } from '../setup/no-origin.ts';

beforeEach(() => void vi.spyOn(console, 'warn').mockReturnValue());
afterEach(() => void vi.restoreAllMocks());

const message =
  'POST https://api.example/orders: not sent without the idempotency key with which it may have been done. ' +
  'Declare its API as before.';

test.each<[string, () => boolean]>([
  [
    'throws',
    () => {
      throw new Error('The settings are not there yet.');
    },
  ],
  ['says no', () => false],
])(
  'an order that was sent with a key is not sent again without one because match %s',
  async (_, match) => {
    const clock = createVirtualClock();
    const keys: (string | null)[] = [];
    const steady = createSteadfetch({
      ...noOrigin,
      clock,
      random: () => 0.5,
      apis: [{ match: () => keys.length === 0 || match(), idempotency: profiles.draft }],
      fetch: async (__, init) => {
        keys.push(new Headers(init?.headers).get('idempotency-key'));
        throw new TypeError('cut');
      },
    });
    const client = new QueryClient({ defaultOptions: steady.defaultOptions });
    const placeOrder = mutationOptions(steady, {
      mutationFn: (order: string, { json }) => json('https://api.example/orders', { json: order }),
    });
    const observer = new MutationObserver(client, placeOrder);
    observer.mutate('lamp').catch(() => {});
    await settle();
    clock.advance(60_000);
    await settle();
    expect(keys).toEqual([expect.any(String)]);
    expect(observer.getCurrentResult().error).toMatchObject({ name: 'TypeError', message });
  },
);

test('an entry that was sent with a key waits for a user in a version of the app that declares none, and goes under its key in one that does', async () => {
  const { server, openTab, pass } = createBrowser();
  server.rule = (arrival) => arrival.cut();
  const first = openTab({ handlers: shop });
  const { idempotencyKey } = first.outbox.submit('order', 'lamp');
  await pass(100);
  first.crash();
  const sent = server.arrivals.length;
  const later = openTab({ handlers: shop, isKeyed: false });
  await pass(10_000);
  expect(server.arrivals).toHaveLength(sent);
  expect(await later.outbox.list()).toMatchObject([
    { state: 'dead', reason: 'refused', processed: 'unknown', lastError: { message } },
  ]);
  later.crash();
  server.rule = (arrival) => arrival.answer(201, { id: 1 });
  const { outbox } = openTab({ handlers: shop });
  expect(await outbox.retry(idempotencyKey)).toBe(idempotencyKey);
  await pass(1000);
  expect(server.arrivals.slice(sent).map(({ key }) => key)).toEqual([idempotencyKey]);
});
