import { QueryObserver, useQuery } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import type { ReactElement } from 'react';
import { isNotSentError, isSteadfetchError, rateLimitFields } from 'steadfetch';
import { useRetryStatus } from 'steadfetch/react';
import { expect, test } from 'vitest';
import { observe } from '../fetch/observe.ts';
import { createRig, type Rig, setVisible } from '../react-query/rig.tsx';

const api = 'http://api.example';
const date = 'Sat, 21 Nov 2026 00:00:00 GMT';
const twoMinutesLater = 'Sat, 21 Nov 2026 00:02:00 GMT';

const ask = (rig: Rig, path: string, steady = rig.steady) =>
  observe(
    rig.client.fetchQuery({
      ...steady.queryPolicy({}),
      queryKey: [path],
      queryFn: () => steady.json(api + path),
    }),
  );

/** How a server asks for more than a minute, and when a request goes after it where chance is in the middle. */
const longLimits = {
  'Retry-After: 61': [429, { 'retry-after': '61' }, 64_050],
  'Retry-After: 90': [429, { 'retry-after': '90' }, 94_500],
  'Retry-After: 3600': [429, { 'retry-after': '3600' }, 3_615_000],
  'a date in Retry-After': [429, { 'retry-after': twoMinutesLater, date }, 126_000],
  'RateLimit of a 429': [429, { ratelimit: '"day";r=0;t=7200' }, 7_215_000],
  'RateLimit of an answer': [200, { ratelimit: '"day";r=0;t=7200' }, 7_215_000],
} as const;

test.each(Object.entries(longLimits))(
  '%s: what is asked meanwhile ends at once, unsent, with the time, and later at the pace of React Query',
  async (_what, [status, headers, untilMs]) => {
    const rig = createRig({ health: {}, rateLimit: rateLimitFields() });
    const startedAt = rig.time.now();
    // Two URLs are told, so it is a limit of all of them.
    rig.server.plan('/reports/0', { status, headers });
    rig.server.plan('/reports/1', { status, headers });
    const first = ask(rig, '/reports/1');
    ask(rig, '/reports/0');
    await rig.time.advance(100);
    expect(first.state).toBe(status === 200 ? 'resolved' : 'rejected');
    // A shorter limit is over before the second one has waited for a minute.
    for (let poll = 0; poll < (untilMs > 90_000 ? 4 : 1); poll++) {
      const asked = await askOnce(rig, '/reports/2');
      if (poll > 0) await rig.time.advance(7150);
      const { error } = asked;
      expect(isNotSentError(error) && error.outcome).toEqual({
        kind: 'paused-too-long',
        reason: 'rate-limited',
        retryAt: startedAt + untilMs,
        processed: 'no',
      });
      await rig.time.advance(100);
    }
    await rig.time.advance(untilMs - rig.elapsed());
    const { state } = await askOnce(rig, '/reports/2');
    expect(state).toBe('resolved');
    expect(rig.server.times('/reports/2')).toEqual([untilMs]);
  },
);

async function askOnce(rig: Rig, path: string, steady = rig.steady) {
  const asked = ask(rig, path, steady);
  await rig.time.advance(0);
  return asked;
}

test('an outage that is to last an hour is not: it is asked again, and is over when it is', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/reports/1', { status: 503, headers: { 'retry-after': '3600' } });
  expect((await askOnce(rig, '/reports/1')).state).toBe('rejected');
  expect((await askOnce(rig, '/reports/1')).state).toBe('resolved');
});

const hour = { status: 429, headers: { 'retry-after': '3600' } };

test("a long limit is no other endpoint's, and a request that waits already ends with its time", async () => {
  const rig = createRig({ health: {} });
  const soon = { status: 429, headers: { 'retry-after': '5' } };
  rig.server.plan('/reports/0', soon);
  rig.server.plan('/reports/1', soon);
  rig.server.plan('/reports/2', { ...hour, afterMs: 1000 });
  const late = ask(rig, '/reports/2');
  ask(rig, '/reports/0');
  ask(rig, '/reports/1');
  await rig.time.advance(100);
  const waiting = ask(rig, '/reports/3');
  await rig.time.advance(1000);
  expect([late.state, waiting.state]).toEqual(['rejected', 'rejected']);
  expect(isSteadfetchError(waiting.error) && waiting.error.retryAt).toBe(
    isSteadfetchError(late.error) && (late.error.retryAt ?? 0) + 15_000,
  );
  expect((await askOnce(rig, '/orders/1')).state).toBe('resolved');
});

test('a poll sends one request in each penalty, in a hidden page, too', async () => {
  const rig = createRig({ health: {} });
  const penalty = { status: 429, headers: { 'retry-after': '90' } };
  rig.server.plan('/reports/1', penalty, penalty);
  const observer = new QueryObserver(rig.client, {
    queryKey: ['poll'],
    queryFn: () => rig.steady.json(`${api}/reports/1`),
    refetchInterval: 5000,
    refetchIntervalInBackground: true,
  });
  const stop = observer.subscribe(() => {});
  setVisible(false);
  await rig.time.advance(200_000);
  stop();
  expect(rig.server.times().slice(0, 3)).toEqual([0, 94_300, 188_600]);
  expect(observer.getCurrentResult().status).toBe('success');
});

test('a press of Retry now goes whatever is known of the limit, and ends it where it is answered', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/reports/1', hour, hour);
  rig.server.plan('/reports/0', hour);
  ask(rig, '/reports/0');
  const Report = (): ReactElement => {
    const { status } = useQuery({
      queryKey: ['report'],
      queryFn: () => rig.steady.json(`${api}/reports/1`),
    });
    const { retryNow } = useRetryStatus({ queryKey: ['report'] });
    return <button onClick={retryNow}>{status}</button>;
  };
  const { container } = rig.show(<Report />);
  await rig.time.advance(100);
  act(() => container.querySelector('button')?.click());
  await rig.time.advance(100);
  expect([container.textContent, rig.server.times('/reports/1')]).toEqual(['error', [0, 100]]);
  expect((await askOnce(rig, '/reports/2')).state).toBe('rejected');
  act(() => container.querySelector('button')?.click());
  await rig.time.advance(100);
  expect([container.textContent, rig.server.times('/reports/1')]).toEqual([
    'success',
    [0, 100, 200],
  ]);
  expect((await askOnce(rig, '/reports/2')).state).toBe('resolved');
});
