import { createSteadfetch, outcomeOf, profiles, retry, type SteadyInit } from 'steadfetch';
import { beforeEach, expect, test, vi } from 'vitest';
import { noOrigin } from '../../setup/no-origin.ts';
import { answer, fakeServer, origin, refuse } from './fake-server.ts';
import { fakeTime, observe } from './observe.ts';

beforeEach(fakeTime);

const url = `${origin}/orders`;
const header = 'Idempotency-Key';

/** The API is declared, but no longer on the second attempt. */
const matches: readonly (readonly [string, () => boolean])[] = [
  [
    'throws',
    () => {
      throw new Error('a mistake of the app');
    },
  ],
  ['says no', () => false],
];

test.each(matches)(
  'what went with a key of the app is not sent without it when `match` %s on a later attempt',
  async (_, fail) => {
    vi.spyOn(console, 'warn').mockReturnValue();
    const server = fakeServer(refuse, answer(201));
    let asked = 0;
    const match = (): boolean => (asked++ === 0 ? true : fail());
    const steady = createSteadfetch({
      ...noOrigin,
      fetch: server.fetch,
      apis: [{ match, idempotency: profiles.draft }],
    });
    const init = { method: 'POST', body: '{}', idempotencyKey: 'k-1' };
    const result = observe(retry(steady, ({ signal }) => steady.fetch(url, { ...init, signal })));
    await vi.runAllTimersAsync();
    expect(server.requests.map(({ headers }) => headers.get(header))).toEqual(['"k-1"']);
    expect(result.error).toBeInstanceOf(TypeError);
    expect(outcomeOf(result.error)).toEqual({ kind: 'invalid', processed: 'unknown' });
  },
);

test('what went with a key of the app is sent again with it where it is written by hand', async () => {
  const server = fakeServer(refuse, answer(201));
  let asked = 0;
  const steady = createSteadfetch({
    ...noOrigin,
    fetch: server.fetch,
    apis: [{ match: () => asked++ === 0, idempotency: profiles.draft }],
  });
  const init = { method: 'POST', body: '{}', headers: { [header]: '"k-1"' } };
  const result = observe(retry(steady, ({ signal }) => steady.fetch(url, { ...init, signal })));
  await vi.runAllTimersAsync();
  expect(server.requests.map(({ headers }) => headers.get(header))).toEqual(['"k-1"', '"k-1"']);
  expect(result.state).toBe('resolved');
});

test.each<[string, SteadyInit]>([
  ['in the init', { idempotencyKey: 'k-1' }],
  ['in a header', { headers: { [header]: '"k-1"' } }],
])('what went with a key %s is not sent again without one', async (_, first) => {
  const server = fakeServer(refuse, answer(201));
  const steady = createSteadfetch({
    ...noOrigin,
    fetch: server.fetch,
    apis: [{ match: origin, idempotency: profiles.draft }],
  });
  const result = observe(
    retry(steady, ({ attempt, signal }) =>
      steady.fetch(url, { method: 'POST', signal, ...(attempt === 1 && first) }),
    ),
  );
  await vi.runAllTimersAsync();
  expect(server.requests).toHaveLength(1);
  expect(outcomeOf(result.error)).toEqual({ kind: 'invalid', processed: 'unknown' });
});
