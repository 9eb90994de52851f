import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKey, type Order, postOrder } from './contender.ts';
import { type DisturbanceKind, disturbanceOf } from './disturbance.ts';
import { type OwnLossyServer, startLossyServer } from './lossy-server.ts';

const seed = 1;
const speed = 100;
let server: OwnLossyServer;
beforeEach(async () => {
  server = await startLossyServer({ seed, speed });
});
afterEach(() => server.close());

/** An order whose first attempts meet these. */
function orderWith(...kinds: readonly DisturbanceKind[]): Order {
  const meets = (no: number) =>
    kinds.every((kind, index) => disturbanceOf(seed, no, index + 1).kind === kind);
  let no = 1;
  while (!meets(no)) no += 1;
  return { no, article: 'a lamp' };
}

/** One attempt: its answer, or its error's name. It is given up once the server has it, or never. */
async function attempt(order: Order, key: string, isGivenUp = false): Promise<string> {
  const limit = new AbortController();
  const giveUp = (): void => limit.abort(new DOMException('Too late.', 'TimeoutError'));
  if (isGivenUp) void server.arrived.then(giveUp);
  try {
    await postOrder({ url: server.url, speed }, order, key, limit.signal);
    return 'booked';
  } catch (error) {
    const { name, message } = error as Error;
    return name === 'Error' ? message : name;
  }
}

test.each([
  ['none', 'booked', 1],
  ['commit-reset', 'TypeError', 1],
  ['503', '503', 0],
  ['commit-503', '503', 1],
  ['commit-hang', 'TimeoutError', 1],
  ['hang', 'TimeoutError', 0],
] as const)('%s: the client sees %s, and %d is booked', async (kind, seen, times) => {
  const order = orderWith(kind);
  expect(await attempt(order, createKey(), seen === 'TimeoutError')).toBe(seen);
  const { orders, arrivals } = await server.report();
  expect(orders[order.no] ?? 0).toBe(times);
  expect(arrivals).toEqual({ [kind]: 1 });
});

test('what is late is booked, also when nobody waits for it any more', async () => {
  const order = orderWith('late');
  await attempt(order, createKey(), true);
  expect((await server.report()).orders[order.no]).toBe(1);
});

test('what is delivered twice is booked once', async () => {
  const order = orderWith('twice');
  expect(['booked', '409']).toContain(await attempt(order, createKey()));
  expect((await server.report()).orders[order.no]).toBe(1);
});

test('with the same key a retry books nothing more, with another one it does', async () => {
  const order = orderWith('commit-reset', 'commit-503', 'none', 'none');
  const key = createKey();
  expect(await attempt(order, key)).toBe('TypeError');
  expect(await attempt(order, key)).toBe('503');
  expect(await attempt(order, key)).toBe('booked');
  expect((await server.report()).orders[order.no]).toBe(1);
  expect(await attempt(order, createKey())).toBe('booked');
  expect((await server.report()).orders[order.no]).toBe(2);
});
