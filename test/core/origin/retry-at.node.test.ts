import { expect, test } from 'vitest';
import { openOrigin } from './rig.ts';

test('what is down and was told to wait shows the later of the two times, and goes then', async () => {
  const { admission, ask, send, advance } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const asked = ask('a');
  await advance(0);
  expect(asked.paused()).toBe('server-down 1200');
  admission.origin.limits.pause('a', 200);
  admission.reconsider();
  await advance(0);
  expect(asked.paused()).toBe('rate-limited 1200');
  await advance(300);
  expect(asked.paused()).toBe('server-down 1200');
  admission.origin.limits.pause('a', 2000);
  admission.reconsider();
  await advance(0);
  expect(asked.paused()).toBe('rate-limited 2400');
  await advance(2100);
  expect(asked.story).toEqual(['2400 probe']);
});
