import { isSteadfetchError } from 'steadfetch';
import { expect, test } from 'vitest';
import { observe } from '../fetch/observe.ts';
import { createRig, type Rig } from '../react-query/rig.tsx';

const api = 'http://api.example';

const ask = (rig: Rig, path: string, own: object = {}) =>
  observe(
    rig.client.fetchQuery({
      ...rig.steady.queryPolicy(own),
      queryKey: [path],
      queryFn: () => rig.steady.json(api + path),
    }),
  );

/** Two URLs of the endpoint are told at once, so it is a limit of all of them. */
function tell(rig: Rig, answer: ReturnType<typeof told>) {
  for (const path of ['/reports/0', '/reports/1']) rig.server.plan(path, answer);
  ask(rig, '/reports/0');
  return ask(rig, '/reports/1');
}

const told = (status: number, seconds: number) => ({
  status,
  headers: { 'retry-after': String(seconds) },
});

test.each([429, 503])(
  'a Retry-After of a %d pauses its endpoint alone, and what it was said to goes a twentieth later',
  async (status) => {
    const rig = createRig({ health: {} });
    const first = tell(rig, told(status, 30));
    await rig.time.advance(100);
    ask(rig, '/reports/2');
    ask(rig, '/orders/1');
    await rig.time.advance(40_000);
    expect(rig.server.times('/orders/1')).toEqual([100]);
    // Up to a tenth later, and this draw is in the middle.
    expect(rig.server.times('/reports/1')).toEqual([0, 31_500]);
    expect(rig.server.times('/reports/2')).toEqual([31_500]);
    expect(first.state).toBe('resolved');
  },
);

test('thirty that wait for it are all sent within a second after it', async () => {
  const rig = createRig({ health: {} });
  tell(rig, told(429, 10));
  await rig.time.advance(100);
  for (let id = 2; id <= 30; id++) ask(rig, `/reports/${id}`);
  await rig.time.advance(60_000);
  const times = rig.server.times().slice(2);
  expect([times.length, Math.min(...times), Math.max(...times)]).toEqual([31, 10_500, 11_483]);
});

test('a pause that outlasts what it keeps back ends it at once, unsent, with its time', async () => {
  const rig = createRig({ health: {} });
  const startedAt = rig.time.now();
  tell(rig, told(429, 30));
  await rig.time.advance(100);
  const short = ask(rig, '/reports/2', { maxPauseMs: 5000 });
  await rig.time.advance(0);
  expect(isSteadfetchError(short.error) && short.error.retryAt).toBe(startedAt + 31_500);
  expect(rig.server.times('/reports/2')).toEqual([]);
});
