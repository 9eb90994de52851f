import { expect, test } from 'vitest';
import type { OutboxHandler } from 'steadfetch/outbox';
import { type Arrival, createBrowser } from './rig.ts';

const upload: OutboxHandler<string> = {
  policy: { timeout: 1000, capMs: 0, baseMs: 0, uploadBytesPerSecond: 1000 },
  mutationFn: async (note, { fetch }) => {
    await fetch('https://api.example/notes', { method: 'PUT', body: note });
  },
};
const handlers = { upload };

/** A browser, and how long its server was given for each attempt, in ms. */
function open() {
  const browser = createBrowser();
  const { server, clock, pass } = browser;
  const sentAt: number[] = [];
  server.rule = () => void sentAt.push(clock.now());
  const reach = async (attempt: number): Promise<Arrival> => {
    for (;;) {
      const arrival = server.arrivals[attempt - 1];
      if (arrival) return arrival;
      await pass(100);
    }
  };
  const limitOf = async (attempt: number): Promise<number> => {
    const arrival = await reach(attempt);
    while (!arrival.isAborted()) await pass(100);
    return clock.now() - (sentAt[attempt - 1] ?? 0);
  };
  return { browser, reach, limitOf };
}

test('an entry that has timed out has twice as long the next time, eight times as long at most', async () => {
  const { browser, limitOf } = open();
  const { outbox } = browser.openTab({ handlers, health: false });
  outbox.submit('upload', 'note');
  const limits: number[] = [];
  for (let attempt = 1; attempt <= 6; attempt++) limits.push(await limitOf(attempt));
  expect(limits).toEqual([1000, 2000, 4000, 8000, 8000, 8000]);
});

test('so has its body', async () => {
  const { browser, limitOf } = open();
  const { outbox } = browser.openTab({ handlers, health: false });
  outbox.submit('upload', 'x'.repeat(2000));
  expect([await limitOf(1), await limitOf(2)]).toEqual([3000, 6000]);
});

test('another failure leaves its limit as it is, and a success ends it', async () => {
  const { browser, limitOf, reach } = open();
  const { outbox } = browser.openTab({ handlers, health: false });
  outbox.submit('upload', 'note');
  await limitOf(1);
  (await reach(2)).answer(503);
  expect(await limitOf(3)).toBe(2000);
  (await reach(4)).answer(200);
  await browser.pass(1000);
  outbox.submit('upload', 'another');
  expect(await limitOf(5)).toBe(1000);
});

test('another tab goes on with the longer limit after a reload', async () => {
  const { browser, limitOf, reach } = open();
  const tab = browser.openTab({ handlers, health: false });
  tab.outbox.submit('upload', 'note');
  await limitOf(1);
  await limitOf(2);
  await reach(3);
  tab.crash();
  browser.openTab({ handlers, health: false });
  expect(await limitOf(4)).toBe(4000);
});
