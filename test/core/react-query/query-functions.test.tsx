import { describe, expect, test } from 'vitest';
import { createRig, type Rig } from './rig.tsx';

type Context = { readonly signal: AbortSignal };

/** Fetches once by this queryFn, until it has ended. */
async function fetchWith(rig: Rig, queryFn: (context: Context) => unknown): Promise<unknown> {
  const result = rig.client
    .fetchQuery({ queryKey: ['it'], queryFn })
    .catch((error: unknown) => error);
  await rig.time.advance(100_000);
  return result;
}

const attempts = (rig: Rig, type: string): number[] =>
  rig.events.filter((event) => event.type === type).map(({ operation }) => operation.attempt);

describe.each<[string, (rig: Rig) => (context: Context) => unknown]>([
  [
    'with the signal',
    (rig) =>
      ({ signal }) =>
        rig.steady.json('/a', { signal }),
  ],
  ['without the signal', (rig) => () => rig.steady.json('/a')],
  ['with steady.fetch', (rig) => async () => (await rig.steady.fetch('/a')).json()],
  [
    'with the signal, after an await',
    (rig) => async (context) => {
      await Promise.resolve();
      return rig.steady.json('/a', { signal: context.signal });
    },
  ],
  [
    'without the signal, after an await',
    (rig) => async () => {
      await Promise.resolve();
      return rig.steady.json('/a');
    },
  ],
])('a queryFn %s', (_name, makeQueryFn) => {
  test('has its attempts, waits and decisions by the policy', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503, 503, { body: 'A' });
    expect(await fetchWith(rig, makeQueryFn(rig))).toBe('A');
    expect(rig.server.times()).toEqual([0, 500, 1500]);
    expect(attempts(rig, 'attempt:start')).toEqual([1, 2, 3]);
    expect(attempts(rig, 'decision')).toEqual([1, 2]);
  });

  test('stops at the deadline that counts from its first attempt', async () => {
    const rig = createRig({ policy: { deadlineMs: 1499 } });
    rig.server.plan('/a', 503, 503, 503);
    expect(await fetchWith(rig, makeQueryFn(rig))).toMatchObject({
      decision: { kind: 'stop', reason: 'deadline' },
    });
    expect(rig.server.times()).toEqual([0, 500]);
  });

  test('is told no more than what its API said: a Retry-After holds for it', async () => {
    const rig = createRig();
    rig.server.plan('/a', { status: 429, headers: { 'Retry-After': '3' } }, 200);
    await fetchWith(rig, makeQueryFn(rig));
    expect(rig.server.times()).toEqual([0, 3150]);
  });

  test('never warns of a second retry loop, and lets no request go out twice', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503, 'network', 503);
    await fetchWith(rig, makeQueryFn(rig));
    expect(rig.server.times()).toEqual([0, 500, 1500, 3500]);
  });
});

describe('several fetches in one queryFn', () => {
  test('one after the other: attempts are runs of the queryFn, not fetches', async () => {
    const rig = createRig();
    rig.server.plan('/b', 503, 503);
    const data = await fetchWith(rig, async ({ signal }) => [
      await rig.steady.json('/a', { signal }),
      await rig.steady.json('/b', { signal }),
      await rig.steady.json('/c', { signal }),
    ]);
    expect(data).toHaveLength(3);
    expect(rig.server.times('/a')).toEqual([0, 500, 1500]);
    expect(rig.server.times('/b')).toEqual([0, 500, 1500]);
    expect(rig.server.times('/c')).toEqual([1500]);
    expect(attempts(rig, 'decision')).toEqual([1, 2]);
  });

  test('at the same time, and both fail: one failure of the operation, one retry', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503, 200);
    // Not a 503: with that the whole origin would ask for a pause.
    rig.server.plan('/b', { status: 413, headers: { 'Retry-After': '9' } }, 200);
    await fetchWith(rig, () => Promise.all([rig.steady.json('/a'), rig.steady.json('/b')]));
    expect(rig.server.times('/a')).toEqual([0, 500]);
    expect(rig.server.times('/b')).toEqual([0, 500]);
    expect(attempts(rig, 'decision')).toEqual([1]);
  });

  test('at the same time, failing in turns: at most as many runs as the policy allows', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503, 200, 503, 200);
    rig.server.plan('/b', 200, 503, 200, 503);
    await fetchWith(rig, () => Promise.all([rig.steady.json('/a'), rig.steady.json('/b')]));
    expect(rig.server.times('/a')).toEqual([0, 500, 1500, 3500]);
    expect(rig.server.times('/b')).toEqual([0, 500, 1500, 3500]);
  });

  test('a failure that the queryFn deals with itself costs no attempt', async () => {
    const rig = createRig();
    rig.server.plan('/a', 503);
    const data = await fetchWith(rig, async () => {
      try {
        return await rig.steady.json('/a');
      } catch {
        return 'the old ones';
      }
    });
    expect(data).toBe('the old ones');
    expect(rig.server.times()).toEqual([0]);
    expect(attempts(rig, 'decision')).toEqual([]);
  });

  test('a 425 of each is asked for again once in the operation, not once per fetch', async () => {
    const rig = createRig();
    rig.server.plan('/a', 425, 200, 200);
    rig.server.plan('/b', 425, 200);
    await fetchWith(rig, async () => [await rig.steady.json('/a'), await rig.steady.json('/b')]);
    expect(rig.server.times('/a')).toEqual([0, 1025]);
    expect(rig.server.times('/b')).toEqual([1025]);
  });
});

test('a synchronous queryFn succeeds with its value, and one that throws is retried', async () => {
  const rig = createRig();
  let runs = 0;
  const data = await fetchWith(rig, () => {
    runs++;
    if (runs < 3) throw new Error('not yet');
    return 'now';
  });
  expect(data).toBe('now');
  expect(attempts(rig, 'attempt:start')).toEqual([1, 2, 3]);
});

test('a body that is not JSON stays a SyntaxError, and a GET is asked for again', async () => {
  const rig = createRig();
  let asked = 0;
  const result = await fetchWith(rig, async () => {
    const response = await rig.steady.fetch('/a');
    asked++;
    if (asked < 2) return JSON.parse('<html>') as unknown;
    return response.json();
  });
  expect(result).toBe('GET /a 2');
  expect(rig.server.times()).toEqual([0, 1025]);
});
