import type { Transport } from '../../../src/core/lib/clock.ts';

/**
 * What becomes of a request: it is done and answered; done, and the answer is lost; lost before it
 * is done; done when the test says so, with or without an answer; refused with this status.
 */
type Fate = 'done' | 'lost answer' | 'lost request' | 'slow' | 'slow, and lost' | number;

/** An order that was booked. */
interface Order {
  readonly id: number;
  readonly key: string;
  readonly body: string;
}

/** A server that books each idempotency key once, and keeps what it answered. */
export interface OrderBook {
  readonly fetch: Transport;
  /** What becomes of the next requests, in order; after them all is done. */
  readonly plan: (...fates: readonly Fate[]) => void;
  /** Does what is slow. */
  readonly answer: () => void;
  readonly orders: readonly Order[];
  /** The keys of the requests, in the order in which they came. */
  readonly keys: readonly string[];
  readonly bodies: readonly string[];
}

export function createOrderBook(): OrderBook {
  const fates: Fate[] = [];
  const orders: Order[] = [];
  const keys: string[] = [];
  const bodies: string[] = [];
  let waiting: (() => void)[] = [];

  const book = (key: string, body: string): Order => {
    const order = { id: orders.length + 1, key, body };
    orders.push(order);
    return order;
  };

  return {
    orders,
    keys,
    bodies,
    plan: (...next) => void fates.push(...next),
    answer() {
      for (const go of waiting) go();
      waiting = [];
    },
    async fetch(input, init) {
      const key = (new Headers(init?.headers).get('idempotency-key') ?? '').replaceAll('"', '');
      const given = init?.body ?? '';
      const body = given instanceof Blob ? await given.text() : (given as string);
      if (init?.method !== 'POST') {
        const found = orders.filter(({ key: known }) => (input as string).endsWith(known));
        return Response.json(found);
      }
      keys.push(key);
      bodies.push(body);
      const fate = fates.shift() ?? 'done';
      if (fate === 'slow' || fate === 'slow, and lost') {
        await new Promise<void>((go, fail) => {
          waiting.push(go);
          init.signal?.addEventListener('abort', () => fail(init.signal?.reason as Error));
        });
      }
      if (fate === 'lost request') throw new TypeError('Failed to fetch');
      if (typeof fate === 'number') return new Response(null, { status: fate });
      const known = orders.find((order) => order.key === key);
      if (known && known.body !== body) return new Response(null, { status: 422 });
      const order = known ?? book(key, body);
      if (fate === 'lost answer' || fate === 'slow, and lost')
        throw new TypeError('Failed to fetch');
      return Response.json(order);
    },
  };
}
