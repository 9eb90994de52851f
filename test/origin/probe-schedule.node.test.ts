import { expect, test } from 'vitest';
import { openOrigin } from './rig.ts';

test('where some wait always ends soon, the last probes are five seconds apart', async () => {
  const { ask, send, advance, log } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const asked: ReturnType<typeof ask>[] = [];
  for (let second = 0; second < 120; second++) {
    if (second % 5 === 0) asked.push(ask('a'), ask('a'));
    await advance(1000);
    for (const one of asked) if (one.story.at(-1)?.endsWith('probe')) one.settle('outage');
  }
  const probes = log.filter((line) => line.endsWith('probe')).map(Number.parseFloat);
  expect(probes).toEqual([
    1200, 2400, 5000, 8000, 12_000, 18_000, 27_000, 39_000, 51_000, 63_000, 75_000, 82_000, 87_000,
    92_000, 97_000, 102_000, 107_000, 112_000, 117_000,
  ]);
});

test('who gives up just when a probe is due is sent as that probe', async () => {
  const { ask, send, advance } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const asked = ask('a', { maxPauseMs: 1200 });
  await advance(1200);
  expect(asked.story).toEqual(['1200 probe']);
});

test('of two probes that are under way at once, the later one says when the next one comes', async () => {
  const { ask, send, advance } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const hanging = ask('a');
  const impatient = ask('a', { maxPauseMs: 12_000 });
  const other = ask('a');
  await advance(9000);
  expect([hanging.story, impatient.story]).toEqual([['1200 probe'], ['9000 probe']]);
  hanging.settle('outage');
  await advance(1000);
  expect(other.paused()).toBe('server-down NaN');
  impatient.settle('outage');
  await advance(50);
  expect(other.paused()).toBe('server-down 14000');
});
