import { hang, networkError, outage, virtualTime } from 'steadfetch/testing';
import { expect, onTestFinished, test, vi } from 'vitest';

test('an outage is as long after the first request as it says, and starts over when it is reset', async () => {
  const time = virtualTime(vi);
  onTestFinished(time.restore);
  const fault = outage({ fromMs: 1000, toMs: 3000 });
  const ask = async () => (await fault({ request: new Request('http://api.test/') }))?.status;
  await time.advance(10_000);
  expect(await ask()).toBeUndefined();
  const seen: unknown[] = [];
  for (const ms of [999, 1, 1999, 1]) {
    await time.advance(ms);
    seen.push(await ask());
  }
  expect(seen).toEqual([undefined, 503, 503, undefined]);
  fault.reset();
  expect(await ask()).toBeUndefined();
  await time.advance(1000);
  expect(await ask()).toBe(503);
});

test('what requests meet in an outage can be any fault', async () => {
  const inner = networkError();
  const fault = outage({ toMs: Infinity, fault: inner });
  const answer = await fault({ request: new Request('http://api.test/') });
  expect([answer?.type, inner.requestCount]).toEqual(['error', 1]);
  expect(fault.description).toBe(
    'breaks the connection of every request, from 0 ms to Infinity ms after the first one, and lets the others through',
  );
  fault.reset();
  expect(inner.requestCount).toBe(0);
});

test.each([
  [{ fromMs: -1, toMs: 5 }, 'outage: fromMs is -1, and must be a number from 0.'],
  [{ fromMs: 5, toMs: 5 }, 'outage: toMs is 5, and must be more than fromMs, which is 5.'],
  [{ toMs: NaN, fault: hang() }, 'outage: toMs is NaN, and must be more than fromMs, which is 0.'],
])('wrong times are refused: %o', (options, message) => {
  expect(() => outage(options)).toThrow(new TypeError(message));
});
