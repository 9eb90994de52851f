import { defineIdempotency, type SteadyInit } from 'steadfetch';
import { MutationObserver, type MutationOptions, useMutation } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { describe, expect, test } from 'vitest';
import { createRig, type Rig } from '../rig.tsx';

/** Runs a mutation to its end, and gives its result or its error. */
async function mutate(rig: Rig, options: MutationOptions<unknown, unknown, unknown>) {
  const result = run(rig, options);
  await rig.time.advance(1_000_000);
  return result;
}

function run(rig: Rig, options: MutationOptions<unknown, unknown, unknown>): Promise<unknown> {
  const observer = new MutationObserver(rig.client, options);
  return observer.mutate(undefined).catch((error: unknown) => error);
}

const sending = (rig: Rig, method: string, init: SteadyInit = {}, path = '/a') => ({
  mutationFn: () => rig.steady.fetch(path, { method, ...init }),
});

const apis = [
  {
    match: 'http://localhost:3000/orders',
    idempotency: defineIdempotency({ header: 'Idempotency-Key' }),
  },
];
const keyed = { headers: { 'Idempotency-Key': 'k1' } };

describe('a plain mutation', () => {
  test.each(['PUT', 'DELETE'])('%s is retried by the policy', async (method) => {
    const rig = createRig();
    rig.server.plan('/a', 503, 'network', 503);
    expect(await mutate(rig, sending(rig, method))).toBeInstanceOf(Response);
    expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
  });

  test.each(['POST', 'PATCH'])('%s without a key is not retried', async (method) => {
    const rig = createRig();
    rig.server.plan('/a', 503);
    expect(await mutate(rig, sending(rig, method))).toMatchObject({
      decision: { kind: 'stop', reason: 'not-idempotent' },
    });
    expect(rig.server.times()).toEqual([0]);
  });

  test('POST without a key is sent again after a 429, once its delay is over', async () => {
    const rig = createRig();
    rig.server.plan('/a', { status: 429, headers: { 'Retry-After': '2' } });
    await mutate(rig, sending(rig, 'POST'));
    // Spread over a tenth.
    expect(rig.server.times()).toEqual([0, 2100]);
  });

  test('POST that is refused with 429 alone, as a log-in after wrong passwords, is told after seven seconds', async () => {
    const rig = createRig();
    rig.server.plan('/a', ...Array.from({ length: 20 }, () => 429));
    expect(await mutate(rig, sending(rig, 'POST'))).toMatchObject({
      decision: { kind: 'stop', reason: 'max-retries' },
      outcome: { processed: 'no' },
    });
    expect(rig.server.times()).toEqual([0, 263, 788, 1838, 3938, 7088]);
  });

  test('POST with a key that its API is not declared to honour is not retried', async () => {
    const rig = createRig({ apis });
    rig.server.plan('/a', 503);
    await mutate(rig, sending(rig, 'POST', keyed));
    expect(rig.server.times()).toEqual([0]);
  });

  test('POST with a key that its API is declared to honour is retried, with the same key', async () => {
    const rig = createRig({ apis });
    rig.server.plan('/orders', 503, 'network', 409);
    await mutate(rig, sending(rig, 'POST', keyed, '/orders'));
    expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
    expect(rig.server.sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual(
      Array.from({ length: 4 }, () => 'k1'),
    );
  });

  test('POST that is declared idempotent is retried', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503);
    await mutate(rig, sending(rig, 'POST', { idempotent: true }));
    expect(rig.server.times()).toEqual([0, 500]);
  });

  test('a bare 500 is retried', async () => {
    const rig = createRig();
    rig.server.plan('/a', 500, 500, 500, 500);
    await mutate(rig, sending(rig, 'PUT'));
    expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
  });

  test('its attempts are counted, and its deadline counts from the first', async () => {
    const rig = createRig({ policy: { deadlineMs: 3499 } });
    rig.server.plan('/a', 503, 503, 503, 503);
    const error = await mutate(rig, sending(rig, 'PUT'));
    expect(rig.server.times()).toEqual([0, 500, 1500]);
    expect(error).toMatchObject({ decision: { kind: 'stop', reason: 'deadline' } });
    const decisions = rig.events.filter(({ type }) => type === 'decision');
    expect(decisions.map(({ operation }) => [operation.kind, operation.attempt])).toEqual([
      ['mutation', 1],
      ['mutation', 2],
      ['mutation', 3],
    ]);
  });

  test('time spent in attempts counts against the deadline', async () => {
    const rig = createRig({ policy: { deadlineMs: 3500 } });
    rig.server.plan('/a', { status: 503, afterMs: 2000 }, { status: 503, afterMs: 1 });
    await mutate(rig, sending(rig, 'PUT'));
    expect(rig.server.times()).toEqual([0, 2500]);
  });

  test('decorrelated jitter builds each wait on the one before', async () => {
    const rig = createRig({ policy: { backoff: 'decorrelated', baseMs: 100 } });
    rig.server.plan('/a', 503, 503, 503);
    await mutate(rig, sending(rig, 'PUT'));
    expect(rig.server.times()).toEqual([0, 200, 550, 1125]);
  });

  test('mutationPolicy is laid over the policy of the instance', async () => {
    const rig = createRig({ policy: { baseMs: 100 } });
    rig.server.plan('/a', 503, 503, 503);
    const own = rig.steady.mutationPolicy({ maxRetries: 1, deadlineMs: 10_000 });
    await mutate(rig, { ...own, ...sending(rig, 'PUT') });
    expect(rig.server.times()).toEqual([0, 50]);
  });

  test('the mutation defaults of a key take one too', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503, 503, 503);
    rig.client.setMutationDefaults(['save'], rig.steady.mutationPolicy({ maxRetries: 1 }));
    await mutate(rig, { mutationKey: ['save'], ...sending(rig, 'PUT') });
    expect(rig.server.times()).toEqual([0, 500]);
  });

  test('retry: false makes one request', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503);
    await mutate(rig, { retry: false, ...sending(rig, 'PUT') });
    expect(rig.server.times()).toEqual([0]);
  });
});

/** Of two that add something both are sent again: none undoes the other. */
const adding = (rig: Rig) => sending(rig, 'POST', { idempotent: true });

describe('two mutations to one URL at the same time', () => {
  test('each has its own attempts', async () => {
    const draws = [0.2, 0.8, 0.3, 0.6, 0.5, 0.1];
    const rig = createRig({ random: () => draws.shift() ?? 0.5 });
    rig.server.plan('/a', ...Array.from({ length: 20 }, () => 503));
    const both = [run(rig, adding(rig)), run(rig, adding(rig))];
    await rig.time.advance(1_000_000);
    await Promise.all(both);
    expect(rig.server.sent).toHaveLength(8);
    const attempts = rig.events.flatMap(({ type, operation }) =>
      type === 'decision' ? operation.attempt : [],
    );
    expect(attempts.toSorted((a, b) => a - b)).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
  });

  test('with equal waits, too, and with the deadline of each', async () => {
    const rig = createRig({ policy: { deadlineMs: 3499 } });
    rig.server.plan('/a', ...Array.from({ length: 20 }, () => 503));
    const both = [run(rig, adding(rig)), run(rig, adding(rig))];
    await rig.time.advance(1_000_000);
    await Promise.all(both);
    expect(rig.server.times()).toEqual([0, 0, 500, 500, 1500, 1500]);
  });

  test('the second is sent when the retry of the first is due, and keeps its own budget', async () => {
    const rig = createRig({ policy: { deadlineMs: 3499 } });
    rig.server.plan('/a', ...Array.from({ length: 20 }, () => 503));
    const first = run(rig, adding(rig));
    await rig.time.advance(500);
    const second = run(rig, adding(rig));
    await rig.time.advance(1_000_000);
    await Promise.all([first, second]);
    expect(rig.server.times()).toEqual([0, 500, 500, 1000, 1500, 2000]);
  });
});

describe('a mutation of several requests', () => {
  test('the one that fails later still has the attempts and the deadline of the mutation', async () => {
    const rig = createRig({ policy: { deadlineMs: 3499 } });
    rig.server.plan('/a', 503, 200, 200, 200);
    rig.server.plan('/b', 503, 503, 503, 503);
    await mutate(rig, {
      mutationFn: async () => {
        await rig.steady.fetch('/a', { method: 'PUT' });
        return rig.steady.fetch('/b', { method: 'PUT' });
      },
    });
    expect(rig.server.times('/a')).toEqual([0, 500, 1500]);
    expect(rig.server.times('/b')).toEqual([500, 1500]);
  });
});

describe('a mutation through another client', () => {
  const axiosPut = (status: number): Error =>
    Object.assign(new Error(`status ${status}`), {
      config: { method: 'put' },
      response: { status, headers: {} },
    });

  async function runsOf(rig: Rig, fail: () => unknown): Promise<number[]> {
    const runs: number[] = [];
    await mutate(rig, {
      mutationFn: () => {
        runs.push(rig.elapsed());
        throw fail();
      },
    });
    return runs;
  }

  test('is retried where shouldRetry says so, with the deadline counted from its first attempt', async () => {
    const rig = createRig({ policy: { deadlineMs: 3499, shouldRetry: () => true } });
    expect(await runsOf(rig, () => axiosPut(503))).toEqual([0, 500, 1500]);
  });

  test.each<[string, unknown]>([
    ['a PUT that is answered 503', axiosPut(503)],
    ['a PUT that is answered 500', axiosPut(500)],
    ['a 429', { status: 429, message: 'slow down' }],
    ['a 425', new Response(null, { status: 425 })],
    ['an unknown error', new Error('no luck')],
    ['a text', 'a string'],
  ])('is not retried after %s: its mutationFn may have sent something before', async (_, error) => {
    expect(await runsOf(createRig(), () => error)).toEqual([0]);
  });

  test('goes on at the pace of React Query where the app has a retry of its own', async () => {
    const rig = createRig();
    const runs: number[] = [];
    await mutate(rig, {
      retry: 3,
      mutationFn: () => {
        runs.push(rig.elapsed());
        throw axiosPut(429);
      },
    });
    expect(runs).toEqual([0, 1000, 3000, 7000]);
  });
});

test('useMutation: variables, context and result are what they are without Steadfetch', async () => {
  const rig = createRig();
  rig.server.plan('/a', 503, { body: 'saved' });
  const calls: unknown[] = [];
  function Form() {
    const {
      mutate: save,
      data,
      variables,
    } = useMutation({
      mutationFn: (name: string) => rig.steady.json<string>('/a', { method: 'PUT', json: name }),
      onMutate: (name) => ({ name }),
      onSuccess: (result, name, context) => void calls.push([result, name, context]),
    });
    return <button onClick={() => save('Tea')}>{`${data ?? ''} ${variables ?? ''}`}</button>;
  }
  rig.show(<Form />);
  act(() => screen.getByRole('button').click());
  await rig.time.advance(10_000);
  const last = rig.client.getMutationCache().getAll()[0]?.state;
  expect(screen.getByText('saved Tea')).toBeDefined();
  expect(calls).toEqual([['saved', 'Tea', { name: 'Tea' }]]);
  expect(last).toMatchObject({ status: 'success', failureCount: 0, variables: 'Tea' });
});
