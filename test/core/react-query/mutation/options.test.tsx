import { useMutation } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { useState } from 'react';
import { createSteadfetch, mutationOptions, watchConnectivity } from 'steadfetch';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Submission } from '../../../../src/core/operation/parts/submission.ts';
import { extendMutation } from '../../../../src/core/react-query/mutation/definition.ts';
import { createHandle } from '../handle.ts';
import { createOrderRig, type Send, sendOrder } from '../order-rig.tsx';
import { setOnline, setVisible } from '../rig.tsx';

const isUuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

const warnings: string[] = [];
beforeEach(() => {
  warnings.length = 0;
  vi.spyOn(console, 'warn').mockImplementation((message) => void warnings.push(String(message)));
});

const mutationKey = ['order'];

describe('the loop', () => {
  test('they are plain options, that leave React Query nothing to retry', () => {
    const steady = createSteadfetch();
    const onError = (): void => {};
    expect(
      mutationOptions(steady, { mutationKey, mutationFn: sendOrder, onError, policy: {} }),
    ).toEqual({
      mutationKey,
      mutationFn: expect.any(Function),
      onError,
      retry: false,
      retryDelay: expect.any(Function),
      networkMode: 'always',
    });
  });

  test.each([
    [
      'declared to honour keys',
      undefined,
      ['POST /orders', 'GET /stock', 'POST /orders', 'GET /stock'],
      'success',
    ],
    ['not declared', [], ['POST /orders', 'GET /stock'], 'error'],
  ] as const)(
    'an order at an API that is %s, and then a read that fails: what was done without a key is not done again',
    async (_, apis, sent, status) => {
      const { steady, server, submit, time } = createOrderRig(apis ? { apis } : {});
      server.plan('/stock', 503, 200);
      const mutation = submit(
        mutationOptions(steady, {
          mutationKey,
          mutationFn: async (order: object, { fetch }) => {
            await fetch('/orders', { method: 'POST', body: JSON.stringify(order) });
            return fetch('/stock');
          },
        }),
      );
      await time.advance(10_000);
      expect(server.sent.map(({ request }) => request)).toEqual(sent);
      expect(mutation.state.status).toBe(status);
    },
  );

  test('a wrong option of the policy is a TypeError at once', () => {
    const steady = createSteadfetch();
    expect(() =>
      mutationOptions(steady, { mutationFn: sendOrder, policy: { maxRetries: -1 } }),
    ).toThrow(
      new TypeError('mutationOptions: maxRetries is -1, and must be a number from 0 to Infinity.'),
    );
  });

  test('a keyed POST is sent again after its waits, with one key, and its attempts are told', async () => {
    const rig = createOrderRig();
    rig.server.plan('/orders', 503, 'network', 200);
    const attempts: number[] = [];
    const mutation = rig.submit(
      mutationOptions(rig.steady, {
        mutationKey,
        mutationFn: (variables, context) => {
          attempts.push(context.attempt);
          expect(context.client).toBe(rig.client);
          expect(context.mutationKey).toBe(mutationKey);
          return sendOrder(variables, context);
        },
      }),
    );
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 500, 1500]);
    expect(attempts).toEqual([1, 2, 3]);
    expect(new Set(rig.keys()).size).toBe(1);
    expect(rig.keys()[0]).toMatch(isUuid);
    expect(mutation.state).toMatchObject({ status: 'success', failureCount: 0 });
    const { operation } = rig.events[0] ?? {};
    expect(operation).toMatchObject({ kind: 'mutation', attempt: 1 });
    expect(new Set(rig.events.map((event) => event.operation.id)).size).toBe(1);
  });

  test('it ends in the last error as it was thrown, and nobody decides on it twice', async () => {
    const rig = createOrderRig({ policy: { maxRetries: 1 } });
    rig.server.plan('/orders', 'network', 503);
    const mutation = rig.submit(mutationOptions(rig.steady, { mutationFn: sendOrder }));
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 500]);
    expect(mutation.state).toMatchObject({
      status: 'error',
      error: {
        status: 503,
        outcome: { processed: 'unknown' },
        operation: { kind: 'mutation', attempt: 2 },
        decision: { kind: 'stop', reason: 'max-retries' },
      },
    });
    expect(rig.events.filter(({ type }) => type === 'decision')).toHaveLength(2);
  });

  test('the answer of the error can still be read', async () => {
    const rig = createOrderRig();
    rig.server.plan('/orders', { status: 422, body: { field: 'sku' } });
    const onError = vi.fn<(error: Error) => Promise<unknown>>(async (error) =>
      (error as unknown as { response: Response }).response.json(),
    );
    rig.submit(mutationOptions(rig.steady, { mutationFn: sendOrder, onError }));
    await rig.time.settle();
    expect(await onError.mock.results[0]?.value).toEqual({ field: 'sku' });
  });

  test('its own policy is laid over that of the instance, its time limit too', async () => {
    const rig = createOrderRig();
    rig.server.plan('/orders', 'hang', 200);
    const policy = { timeout: 300, baseMs: 200 };
    rig.submit(mutationOptions(rig.steady, { mutationFn: sendOrder, policy }));
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 400]);
  });

  test('it goes on in a hidden tab and offline, where a plain mutation pauses', async () => {
    const rig = createOrderRig({ connectivity: watchConnectivity() });
    rig.server.plan('/orders', 503);
    rig.server.plan('/plain', 503);
    rig.submit(mutationOptions(rig.steady, { mutationFn: sendOrder }));
    const plain = rig.submit({
      ...rig.steady.defaultOptions.mutations,
      mutationFn: () => rig.steady.fetch('/plain', { method: 'PUT' }),
    });
    await rig.time.advance(100);
    setVisible(false);
    setOnline(false);
    await rig.time.advance(10_000);
    expect(rig.server.times('/orders')).toEqual([0, 500]);
    expect(rig.server.times('/plain')).toEqual([0]);
    expect(plain.state.isPaused).toBe(true);
  });

  test('its wait delays nobody on reconnect', async () => {
    const rig = createOrderRig();
    rig.server.plan('/orders', { status: 503, headers: { 'Retry-After': '50' } });
    rig.submit(mutationOptions(rig.steady, { mutationFn: sendOrder }));
    await rig.time.advance(100);
    await act(() => rig.client.resumePausedMutations());
    expect(rig.elapsed()).toBe(100);
  });
});

describe('what belongs to the operation', () => {
  test('requests after an await, in json, and with a signal of the app', async () => {
    const rig = createOrderRig();
    rig.server.plan('/b', 503, 200);
    const { signal } = new AbortController();
    rig.submit(
      mutationOptions(rig.steady, {
        mutationFn: async (_: unknown, { json, fetch }) => {
          await json('/a');
          await fetch('/b', { signal });
          await fetch(new Request('http://localhost:3000/c', { signal }));
        },
      }),
    );
    await rig.time.advance(10_000);
    expect(rig.server.sent.map(({ request, at }) => `${at} ${request}`)).toEqual([
      '0 GET /a',
      '0 GET /b',
      '500 GET /a',
      '500 GET /b',
      '500 GET /c',
    ]);
    expect(new Set(rig.events.map(({ operation }) => operation.id)).size).toBe(1);
  });

  test("the app's own abort ends it with its own reason, and aborts the request", async () => {
    const rig = createOrderRig();
    rig.server.plan('/orders', 'hang');
    const controller = new AbortController();
    const mutation = rig.submit(
      mutationOptions(rig.steady, {
        mutationFn: (_: unknown, { fetch }) =>
          fetch('/orders', { method: 'POST', signal: controller.signal }),
      }),
    );
    await rig.time.advance(100);
    controller.abort('left');
    await rig.time.settle();
    expect(mutation.state).toMatchObject({ status: 'error', error: 'left' });
    expect(rig.server.sent[0]?.abortedAt).toBe(100);
  });
});

describe('the key', () => {
  test('one for each mutate, also for the same variables twice', async () => {
    const rig = createOrderRig();
    rig.server.plan('/orders', 503, 503);
    const options = mutationOptions(rig.steady, { mutationFn: sendOrder });
    const order = { sku: 'kite' };
    rig.submit(options, order);
    rig.submit(options, order);
    await rig.time.advance(10_000);
    const [first, second, ...again] = rig.keys();
    expect(first).not.toBe(second);
    expect(again).toEqual([first, second]);
  });

  test("the same also when the app's own retry calls the mutationFn again", async () => {
    const rig = createOrderRig({ policy: { maxRetries: 0 } });
    rig.server.plan('/orders', 503, 200);
    const options = mutationOptions(rig.steady, { mutationFn: sendOrder });
    rig.submit({ ...options, retry: 1, retryDelay: 0 });
    await rig.time.advance(10_000);
    expect(rig.keys()).toHaveLength(2);
    expect(new Set(rig.keys()).size).toBe(1);
  });

  test("and the same bytes: of what the app's own retry sends again, too", async () => {
    const rig = createOrderRig({ policy: { maxRetries: 0 } });
    rig.server.plan('/orders', 'network', 201);
    let count = 0;
    const mutationFn: Send = (_, { fetch }) => {
      count += 1;
      return fetch('/orders', { method: 'POST', body: `${count}` });
    };
    rig.submit({ ...mutationOptions(rig.steady, { mutationFn }), retry: 1, retryDelay: 0 });
    await rig.time.advance(1000);
    expect(rig.server.sent).toHaveLength(2);
    expect(rig.keys()[1]).toBe(rig.keys()[0]);
    expect(rig.server.sent.map(({ body }) => body)).toEqual(['1', '1']);
  });

  test('that of a submission which somebody else keeps', async () => {
    const rig = createOrderRig();
    rig.server.plan('/orders', 503);
    const options = mutationOptions(rig.steady, { mutationKey, mutationFn: sendOrder });
    const mutationFn = extendMutation('a test', options.mutationFn, {
      submissionOf: ({ sku }: { sku: string }) => new Submission({ key: `k-${sku}`, createdAt: 5 }),
    });
    rig.submit({ ...options, mutationFn }, { sku: 'kite' });
    rig.submit(options);
    await rig.time.advance(10_000);
    expect(rig.keys()).toEqual(['k-kite', expect.stringMatching(isUuid), 'k-kite']);
  });

  test('no submission is given to a mutationFn that is not ours', () => {
    expect(() =>
      extendMutation('a test', async () => 1, {
        submissionOf: () => new Submission({ key: 'k', createdAt: 0 }),
      }),
    ).toThrow(/^a test: mutationFn is .*, and must be that of mutationOptions\.$/s);
  });
});

describe('what may have been done', () => {
  const book: Send = async (_variables, { fetch }) => {
    await fetch('/orders', { method: 'POST' });
    return fetch('/mail', { method: 'POST', step: 'mail' });
  };

  test.each([
    ['booked', 200, 404],
    ['lost', 'network', 400],
  ] as const)('the error says so where an earlier request was %s', async (_, first, then) => {
    const rig = createOrderRig({ policy: { maxRetries: 1 } });
    rig.server.plan('/orders', first);
    rig.server.plan('/mail', then);
    const mutation = rig.submit(mutationOptions(rig.steady, { mutationFn: book }));
    await rig.time.advance(10_000);
    expect(mutation.state.error).toMatchObject({ status: then, outcome: { processed: 'unknown' } });
  });

  test.each([
    ['what only reads leaves no doubt', {}, 'no'],
    [
      'what is declared idempotent may have taken effect',
      { method: 'POST', idempotent: true },
      'unknown',
    ],
  ])('%s', async (_, init, processed) => {
    const rig = createOrderRig();
    rig.server.plan('/mail', 404);
    const mutationFn: Send = async (_variables, { fetch }) => {
      await fetch('/search', init);
      return fetch('/mail', { method: 'POST' });
    };
    const mutation = rig.submit(mutationOptions(rig.steady, { mutationFn }));
    await rig.time.advance(10_000);
    expect(mutation.state.error).toMatchObject({ outcome: { processed } });
  });
});

describe('is not broken by', () => {
  test('a re-render in flight, with options of that render: the loop goes on as it began', async () => {
    const rig = createOrderRig();
    rig.server.plan('/orders/0', 503, 200);
    const form = createHandle<{ press: () => void; next: () => void }>();
    const onSuccess = vi.fn<(order: unknown) => void>();
    function Form() {
      const [count, setCount] = useState(0);
      const { mutate } = useMutation({
        ...mutationOptions(rig.steady, {
          mutationKey,
          mutationFn: (_: void, { fetch, idempotencyKey }) =>
            fetch(`/orders/${count}`, {
              method: 'POST',
              headers: { 'Idempotency-Key': idempotencyKey },
            }),
        }),
        onSuccess: () => onSuccess(count),
      });
      form.set({ press: () => mutate(), next: () => setCount((now) => now + 1) });
      return null;
    }
    rig.show(<Form />);
    act(() => form.get().press());
    await rig.time.advance(100);
    act(() => form.get().next());
    await rig.time.advance(10_000);
    expect(rig.server.sent.map(({ request, at }) => `${at} ${request}`)).toEqual([
      '0 POST /orders/0',
      '500 POST /orders/0',
    ]);
    expect(new Set(rig.keys()).size).toBe(1);
    // Callbacks are those of the last render, as React Query has it.
    expect(onSuccess.mock.calls).toEqual([[1]]);
  });

  test('setMutationDefaults, with a component that knows the key alone', async () => {
    const rig = createOrderRig();
    rig.server.plan('/orders', 503);
    rig.client.setMutationDefaults(
      mutationKey,
      mutationOptions(rig.steady, { mutationFn: sendOrder }),
    );
    rig.submit(rig.client.defaultMutationOptions({ mutationKey }));
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 500]);
    expect(new Set(rig.keys()).size).toBe(1);
  });

  test('defaults of the key that would retry', async () => {
    const rig = createOrderRig({ policy: { maxRetries: 1 } });
    rig.server.plan('/orders', 503, 503, 503, 503);
    rig.client.setMutationDefaults(mutationKey, { retry: 3, networkMode: 'online' });
    rig.submit(
      rig.client.defaultMutationOptions(
        mutationOptions(rig.steady, { mutationKey, mutationFn: sendOrder }),
      ),
    );
    await rig.time.advance(100_000);
    expect(rig.server.times()).toEqual([0, 500]);
  });

  test('a scope: one after the other, each with its own key and all of its attempts', async () => {
    const rig = createOrderRig();
    rig.server.plan('/orders', 503, { afterMs: 10 }, 503, { afterMs: 10 });
    const scope = { id: 'orders' };
    const options = mutationOptions(rig.steady, { mutationFn: sendOrder, scope });
    const order = { sku: 'kite' };
    rig.submit(options, order);
    rig.submit(options, order);
    await rig.time.advance(10_000);
    expect(rig.server.times()).toEqual([0, 500, 510, 1010]);
    const [first, , second] = rig.keys();
    expect(rig.keys()).toEqual([first, first, second, second]);
    expect(first).not.toBe(second);
  });
});

describe('a mutationFn spread over them', () => {
  const spread = expect.stringMatching(/mutationFn was spread over.*no.* idempotency key/s);
  const plain: Send = async () => 'done';

  test('is warned about when it fails', async () => {
    const rig = createOrderRig();
    const options = mutationOptions(rig.steady, { mutationKey, mutationFn: sendOrder });
    rig.submit({ ...options, mutationFn: () => Promise.reject(new Error('oops')) });
    await rig.time.settle();
    expect(warnings).toEqual([spread]);
  });

  test('is warned about also when it succeeds, once a mutation of ours has run in this client', async () => {
    const rig = createOrderRig();
    const options = mutationOptions(rig.steady, { mutationKey, mutationFn: sendOrder });
    rig.submit(options);
    await rig.time.settle();
    expect(warnings).toEqual([]);
    rig.submit({ ...options, mutationFn: plain });
    rig.submit({ ...options, mutationFn: plain });
    await rig.time.settle();
    expect(warnings).toEqual([spread]);
  });

  test('ours is not spoken of, whatever it ends in', async () => {
    const rig = createOrderRig();
    const options = mutationOptions(rig.steady, { mutationFn: sendOrder });
    rig.server.plan('/orders', 422);
    rig.submit(options);
    rig.submit(mutationOptions(rig.steady, { mutationFn: () => Promise.reject(new Error('a')) }));
    const text: unknown = 'text';
    rig.submit(mutationOptions(rig.steady, { mutationFn: () => Promise.reject(text) }));
    await rig.time.advance(10_000);
    expect(warnings).toEqual([]);
  });

  test('in production nothing is said', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const rig = createOrderRig();
    const options = mutationOptions(rig.steady, { mutationFn: sendOrder });
    rig.submit({ ...options, mutationFn: () => Promise.reject(new Error('oops')) });
    await rig.time.settle();
    vi.unstubAllEnvs();
    expect(warnings).toEqual([]);
  });

  // A shorter limit would only hide that it was done.
  test.each([
    [0, [0]],
    [1, [0, 500]],
  ])('with `maxRetries: %i` its last attempt has 60 s', async (maxRetries, times) => {
    const rig = createOrderRig();
    rig.server.plan('/orders', ...times.slice(1).map(() => 503), { afterMs: 59_000 });
    const policy = { maxRetries };
    const mutation = rig.submit(
      mutationOptions(rig.steady, { mutationKey, mutationFn: sendOrder, policy }),
    );
    await rig.time.advance(60_000);
    expect([mutation.state.status, rig.server.times()]).toEqual(['success', times]);
  });
});
