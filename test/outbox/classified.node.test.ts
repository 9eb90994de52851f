import { classifyOutcomes } from 'steadfetch';
import { expect, test } from 'vitest';
import { createBrowser } from './rig.ts';

test('what an app reads from an error of another client counts: that nothing was done, and when to ask again', async () => {
  const { openTab, clock, pass } = createBrowser();
  const busy = new Error('busy');
  const outcomes = classifyOutcomes({
    classifyError: (error) =>
      error === busy ? { status: 503, processed: 'no', retryAfterMs: 600_000 } : undefined,
  });
  const begunAt: number[] = [];
  const { outbox } = openTab({
    apis: [{ match: /./, outcomes }],
    handlers: {
      order: {
        idempotent: true,
        async mutationFn(order: string) {
          begunAt.push(clock.now());
          throw order === 'kite' ? busy : new Error(order);
        },
      },
    },
  });
  outbox.submit('order', 'kite');
  await pass(10_000);
  const [first = NaN] = begunAt;
  const [entry] = await outbox.list();
  expect(entry).toMatchObject({ state: 'pending', attempts: 1, processed: 'no' });
  expect(entry?.nextRetryAt).toBe(first + 600_000);
  await pass(580_000, 10_000);
  expect(begunAt).toEqual([first]);
  await pass(20_000);
  expect(begunAt).toHaveLength(2);
});
