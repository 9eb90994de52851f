import { type Mutation, QueryClient } from '@tanstack/react-query';
import { createSteadfetch, mutationOptions, defineIdempotency } from 'steadfetch';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { openTalk } from './talk.ts';

const [origin] = inject('origins');

/** As when the user looks at another tab. */
function hide(): void {
  const show = (visibilityState: string): void => {
    Object.defineProperty(document, 'visibilityState', {
      value: visibilityState,
      configurable: true,
    });
    window.dispatchEvent(new Event('visibilitychange'));
  };
  show('hidden');
  onTestFinished(() => show('visible'));
}

test('in a hidden tab a mutation of ours is sent again, same key, where a plain one pauses', async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  const steady = createSteadfetch({
    apis: [{ match: origin, idempotency: defineIdempotency({ header: 'Idempotency-Key' }) }],
    policy: { baseMs: 0 },
    // It would hold both: the two fail three times in all.
    health: false,
  });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  client.mount();
  onTestFinished(() => client.unmount());
  const cache = client.getMutationCache();
  const order = { sku: 'kite' };
  const [ours, plain] = [
    openTalk(origin, 'reset', 'unavailable', 'ok'),
    openTalk(origin, 'reset', 'ok'),
  ];
  hide();

  const placeOrder = mutationOptions(steady, {
    mutationFn: (json: object, { json: send, idempotencyKey }) =>
      send(ours.url, { json, headers: { 'Idempotency-Key': idempotencyKey } }),
  });
  const paused = new Promise<Mutation>((resolve) => {
    cache.subscribe(({ type, mutation }) => {
      if (type === 'updated' && mutation.state.isPaused) resolve(mutation);
    });
  });
  void cache
    .build(
      client,
      client.defaultMutationOptions({
        mutationFn: (json: object) => steady.json(plain.url, { json, method: 'PUT' }),
      }),
    )
    .execute(order);
  expect(await cache.build(client, placeOrder).execute(order)).toEqual({ id: 1 });

  const { requests } = await ours.log();
  expect(requests).toHaveLength(3);
  expect(new Set(requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  expect(new Set(requests.map(({ body }) => body))).toEqual(new Set([JSON.stringify(order)]));
  expect((await paused).state.status).toBe('pending');
  expect((await plain.log()).requests).toHaveLength(1);
});
