import { act } from '@testing-library/react';
import { mutationOptions, type Outcome, outcomeOf } from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { createOrderRig, type Send } from '../order-rig.tsx';
import { watchMutation } from '../../react/watch.tsx';

const mutationKey = ['order'];
const post = { method: 'POST' };
const label = { ...post, step: 'label' };
/** An API that is not declared to honour keys. */
const unkeyed = 'http://other.test/charges';

// It is warned about.
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}));

/** Somebody who watches the orders, and submits. */
function showOrders(mutationFn: Send, own: object = {}) {
  const rig = createOrderRig();
  const watched = watchMutation(rig, mutationKey);
  rig.show(<watched.Watcher />);
  const { server, steady, submit } = rig;
  return {
    ...rig,
    ...watched,
    order: () => submit(mutationOptions(steady, { mutationKey, mutationFn, ...own })),
    sent: () => server.sent.map(({ request }) => request),
  };
}

const after = (ms: number): Promise<void> => new Promise((go) => setTimeout(go, ms));

/** The error of another client, as axios makes it. */
const foreign = (method: string, status?: number): Error =>
  Object.assign(new Error('axios'), {
    config: { method },
    ...(status !== undefined && { response: { status, headers: {} } }),
  });

describe('a mutation of which one request may be done at any moment', () => {
  test.each<[string, Send]>([
    ['write', (_, { fetch }) => Promise.all([fetch('/orders', post), fetch('/labels', label)])],
    ['read', (_, { fetch }) => Promise.all([fetch('/orders', post), fetch('/labels')])],
  ])('ends unknown when a %s beside it is refused', async (_what, mutationFn) => {
    const { order, server, time, last } = showOrders(mutationFn);
    server.plan('/orders', { afterMs: 3000 });
    server.plan('/labels', { status: 404, afterMs: 100 });
    const mutation = order();
    await time.advance(200);
    expect(last().status).toBe('unknown');
    await time.advance(5000);
    expect(last().status).toBe('unknown');
    expect(outcomeOf(mutation.state.error)).toMatchObject({ status: 404, processed: 'unknown' });
  });

  test('stays unknown when that one is refused, too: so it was told', async () => {
    const { order, server, time, last } = showOrders((_, { fetch }) =>
      Promise.all([fetch('/orders', post), fetch('/labels', label)]),
    );
    server.plan('/orders', { status: 400, afterMs: 3000 });
    server.plan('/labels', { status: 404, afterMs: 100 });
    order();
    await time.advance(5000);
    expect(last().status).toBe('unknown');
  });

  test('ends unknown when a request after it is refused, and the app had cut it off', async () => {
    const { order, server, time, last, sent } = showOrders(async (_, { fetch }) => {
      const cut = new AbortController();
      setTimeout(() => cut.abort(), 1000);
      await fetch('/orders', { ...post, signal: cut.signal }).catch(() => {});
      return fetch('/labels', label);
    });
    server.plan('/orders', 'hang');
    server.plan('/labels', 403);
    order();
    await time.advance(2000);
    expect(sent()).toEqual(['POST /orders', 'POST /labels']);
    expect(last().status).toBe('unknown');
    expect(outcomeOf(last().lastError)).toMatchObject({ status: 403, processed: 'unknown' });
  });

  test('is not run again while that one has no key: it would be done twice', async () => {
    const { order, server, time, last, sent } = showOrders((_, { fetch }) =>
      Promise.all([fetch(unkeyed, post), fetch('/rates')]),
    );
    server.plan('/charges', { afterMs: 3000 });
    server.plan('/rates', { status: 503, afterMs: 100 });
    order();
    await time.advance(60_000);
    expect(sent().toSorted()).toEqual(['GET /rates', 'POST /charges']);
    expect(last()).toMatchObject({ status: 'unknown', reason: 'not-idempotent' });
  });
});

describe('a mutation that is run again', () => {
  test('is not, after a request without a key whose answer the app does not ask for', async () => {
    const { order, server, time, last, sent } = showOrders(async (_, { fetch }) => {
      await fetch(unkeyed, post).catch(() => {});
      return fetch('/rates');
    });
    server.plan('/charges', 503);
    server.plan('/rates', 503);
    order();
    await time.advance(60_000);
    expect(sent()).toEqual(['POST /charges', 'GET /rates']);
    expect(last()).toMatchObject({ status: 'unknown', reason: 'not-idempotent' });
  });

  test.each([
    ['in the wait', 100],
    ['in the next attempt', 600],
  ])('sends once what comes late, %s: its own attempt is over', async (_when, lateMs) => {
    const { order, server, time, last, sent } = showOrders((_, { fetch }) =>
      Promise.all([fetch('/rates'), after(lateMs).then(() => fetch(unkeyed, post))]),
    );
    server.plan('/rates', 503, 200);
    order();
    await time.advance(60_000);
    expect(sent()).toEqual(['GET /rates', 'GET /rates', 'POST /charges']);
    expect(last()).toMatchObject({ status: 'succeeded', attempt: 2 });
  });
});

describe('a mutation that sends by another client, too, and fails there', () => {
  const runs = async (send: Send): Promise<number> => {
    let count = 0;
    const { order, time } = showOrders(async (variables, context) => {
      count++;
      await send(variables, context);
      // A reading request of the other client, which says nothing of what that has written before.
      if (count === 1) throw foreign('get', 503);
      return {};
    });
    order();
    await time.advance(60_000);
    return count;
  };

  test('is not run again because a request of ours has carried the key', async () => {
    expect(await runs((_, { fetch }) => fetch('/orders', post))).toBe(1);
  });

  test.each<[string, Send]>([
    ['alone', async (_, { takeKey }) => takeKey()],
    ['before a request of ours', (_, { takeKey, fetch }) => (takeKey(), fetch('/labels', label))],
    ['after a request of ours', (_, { takeKey, fetch }) => fetch('/labels', label).then(takeKey)],
  ])('is run again where that client has taken the key: %s', async (_, send) => {
    expect(await runs(send)).toBe(2);
  });
});

describe('a mutation whose requests were all refused', () => {
  test('ends as failed, whatever comes after them', async () => {
    const { order, server, time, last } = showOrders(async (_, { fetch }) => {
      await fetch('/orders', post).catch(() => {});
      return fetch('/labels');
    });
    server.plan('/orders', 400);
    server.plan('/labels', 404);
    order();
    await time.settle();
    expect(last().status).toBe('failed');
    expect(outcomeOf(last().lastError)).toMatchObject({ status: 404, processed: 'no' });
  });

  test('and whose error is thrown once more does nothing twice that has no key', async () => {
    let error: unknown;
    let attempts = 0;
    const { order, server, time, last, sent } = showOrders(
      async (_, { fetch }) => {
        error ??= await fetch(unkeyed, post).catch((its: unknown) => its);
        if (attempts++ < 2) throw error;
        await fetch('http://other.test/fees', post);
        return fetch('/labels');
      },
      { policy: { shouldRetry: () => true } },
    );
    server.plan('/charges', 408);
    server.plan('/labels', 503, 503);
    order();
    await time.advance(60_000);
    expect(sent()).toEqual(['POST /charges', 'POST /fees', 'GET /labels']);
    expect(last().status).toBe('unknown');
  });

  test('is run again where the app wants that, also without a key', async () => {
    const { order, server, time, last, sent } = showOrders((_, { fetch }) => fetch(unkeyed, post), {
      policy: { shouldRetry: () => true },
    });
    server.plan('/charges', 408, 408, 200);
    order();
    await time.advance(60_000);
    expect(sent()).toEqual(['POST /charges', 'POST /charges', 'POST /charges']);
    expect(last().status).toBe('succeeded');
  });
});

describe('a mutation that has ended in a failure', () => {
  test('sends nothing more: it was told that nothing was done', async () => {
    const late: unknown[] = [];
    const { order, server, time, last, sent } = showOrders((_, { fetch }) => {
      const write = after(500).then(() => fetch('/orders', post));
      void write.catch((error: unknown) => late.push(error));
      return Promise.all([fetch('/rates'), write]);
    });
    server.plan('/rates', 404);
    order();
    await time.advance(60_000);
    expect(late).toMatchObject([{ name: 'AbortError' }]);
    expect(last().status).toBe('failed');
    expect(sent()).toEqual(['GET /rates']);
  });

  test('may send what nobody has waited for once it has succeeded', async () => {
    const { order, time, last, sent } = showOrders(async (_, { fetch }) => {
      void after(500).then(() => fetch('/log', post));
      return fetch('/orders', post);
    });
    order();
    await time.advance(1000);
    expect(last().status).toBe('succeeded');
    expect(sent()).toEqual(['POST /orders', 'POST /log']);
  });
});

describe('a mutation that another client sends', () => {
  test.each([
    ['put', 400],
    ['delete', 404],
  ])(
    'whose %s got no answer, and was refused when it was sent again, ends unknown',
    async (method, status) => {
      let attempts = 0;
      const { order, time, last } = showOrders(
        async () => {
          await Promise.resolve();
          throw attempts++ === 0 ? foreign(method) : foreign(method, status);
        },
        { policy: { shouldRetry: ({ kind }: Outcome) => kind === 'error' || undefined } },
      );
      order();
      await time.advance(60_000);
      expect(attempts).toBe(2);
      expect(last().status).toBe('unknown');
      expect(outcomeOf(last().lastError)).toMatchObject({ status, processed: 'unknown' });
    },
  );

  test.each([
    ['another error each time', () => foreign('post', 408)],
    [
      'the same error each time',
      (
        (error) => () =>
          error
      )(foreign('post', 408)),
    ],
  ])('and that the app has sent again, by %s, does nothing of ours twice', async (_what, make) => {
    let attempts = 0;
    const { order, server, time, last, sent } = showOrders(
      async (_, { fetch }) => {
        if (attempts++ < 2) throw make();
        await fetch(unkeyed, post);
        return fetch('/labels');
      },
      { policy: { shouldRetry: () => true } },
    );
    server.plan('/labels', 503, 503);
    order();
    await time.advance(60_000);
    expect(sent()).toEqual(['POST /charges', 'GET /labels']);
    expect(last().status).toBe('unknown');
  });

  test('and is cancelled after a read of ours ends unknown', async () => {
    const { order, time, last } = showOrders(async (_, { fetch }) => {
      await fetch('/token');
      await new Promise(() => {});
    });
    order();
    await time.advance(100);
    expect(last().status).toBe('sending');
    act(() => last().cancel());
    await time.settle();
    expect(last().status).toBe('unknown');
  });
});

describe.each([
  ['with its default options', {}],
  ['that is not retried', { retry: false }],
])('a query %s', (_name, options) => {
  test('that reads by POST is no write of a mutation which waits to go on', async () => {
    const rig = showOrders(async (_, { json, attempt }) => {
      if (attempt > 1) await after(1500);
      return json('/orders', { json: { query: 'mutation' } });
    });
    rig.server.plan('/orders', { status: 503 });
    const mutation = rig.order();
    await rig.time.advance(1200);
    const read = rig.client.fetchQuery({
      queryKey: ['orders'],
      queryFn: ({ signal }) => rig.steady.json('/orders', { json: { query: 'query' }, signal }),
      ...options,
    });
    await rig.time.advance(5000);
    await expect(read).resolves.toBeDefined();
    expect([mutation.state.status, rig.last().status]).toEqual(['success', 'succeeded']);
  });
});
