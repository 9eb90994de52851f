import { expect, test } from 'vitest';
import { observe } from '../fetch/observe.ts';
import { createRig } from '../react-query/rig.tsx';
import { openOrigin } from './rig.ts';

test('one time-out is not an outage, nor what a time-out and an answer leave', () => {
  const { admission, send } = openOrigin();
  send('report', 'outage', 10_000);
  expect(admission.origin.health.isDown('report')).toBe(false);
  expect(admission.origin.health.isDown('orders')).toBe(false);
  send('orders', 'success', 50);
  send('orders', 'outage', 50);
  expect(admission.origin.health.isDown('orders')).toBe(false);
});

test('one time-out is retried like any failure, and what is asked meanwhile goes at once', async () => {
  const rig = createRig({ health: {} });
  rig.server.plan('/report', 'hang');
  const { client, steady, server, time } = rig;
  const ask = (path: string) =>
    observe(
      client.fetchQuery({
        ...steady.defaultOptions.queries,
        queryKey: [path],
        queryFn: () => steady.json(`http://api.example${path}`),
      }),
    );
  const report = ask('/report');
  await time.advance(10_200);
  ask('/orders');
  await time.advance(1000);
  expect(server.times('/orders')).toEqual([10_200]);
  expect(server.times('/report')).toEqual([0, 10_500]);
  expect(report.state).toBe('resolved');
});

test('a report that takes 12 s under a limit of 10 s is there at the second attempt, and pauses nothing else', async () => {
  const rig = createRig({ health: {} });
  const { client, steady, server, time, events } = rig;
  server.plan('/report', ...Array.from({ length: 20 }, () => ({ afterMs: 12_000 })));
  const report = observe(
    client.fetchQuery({
      ...steady.defaultOptions.queries,
      queryKey: ['report'],
      queryFn: () => steady.json('http://api.example/report'),
    }),
  );
  for (let second = 0; second < 90; second++) {
    void steady.fetch(`http://api.example/orders/${second}`);
    await time.advance(1000);
  }
  expect([report.state, server.times('/report')]).toEqual(['resolved', [0, 10_500]]);
  const orders = server.sent.filter(({ request }) => request.includes('/orders/'));
  expect(orders.map(({ at }) => at)).toEqual(Array.from({ length: 90 }, (_, at) => 1000 * at));
  expect(events.filter(({ type }) => type === 'pause:start')).toEqual([]);
});
