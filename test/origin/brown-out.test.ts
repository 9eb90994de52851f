import { expect, test } from 'vitest';
import { openOrigin } from './rig.ts';

test('what fails beside what is answered is no outage: soon two failures in a row pause nothing', () => {
  const { admission, ask, send } = openOrigin();
  // Nine at once, of which every third is answered.
  const signs = ['outage', 'outage', 'success'] as const;
  const asked = Array.from({ length: 9 }, () => ask('a'));
  asked.forEach(({ settle }, at) => settle(signs[at % 3] ?? 'success'));
  expect(admission.isDown('a')).toBe(false);
  for (let failures = 0; failures < 7; failures++) send('a', 'outage');
  expect(admission.isDown('a')).toBe(false);
  send('a', 'outage');
  expect(admission.isDown('a')).toBe(true);
});

test('what failed in an outage of half a second or longer says nothing of the usual', async () => {
  const { admission, ask, send, advance } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const probe = ask('a');
  await advance(1200);
  probe.settle('success');
  expect(admission.isDown('a')).toBe(false);
  send('a', 'outage');
  send('a', 'outage');
  expect(admission.isDown('a')).toBe(true);
});
