import { expect, test } from 'vitest';
import { openOrigin } from './rig.ts';

test('what fails beside what is answered is no outage: soon two failures in a row pause nothing', () => {
  const { admission, ask, send, clock } = openOrigin();
  // Nine at once, of which every third is answered.
  const signs = ['outage', 'outage', 'success'] as const;
  const asked = Array.from({ length: 9 }, () => ask('a'));
  asked.forEach(({ settle }, at) => settle(signs[at % 3] ?? 'success'));
  expect(admission.origin.health.isDown('a')).toBe(false);
  clock.advance(1);
  for (let failures = 0; failures < 7; failures++) send('a', 'outage', 1);
  expect(admission.origin.health.isDown('a')).toBe(false);
  send('a', 'outage', 1);
  expect(admission.origin.health.isDown('a')).toBe(true);
});

test('an answer speaks for all that was sent no later: what of that still fails is no outage', () => {
  const { admission, ask, send, clock } = openOrigin();
  const asked = Array.from({ length: 6 }, () => ask('a'));
  clock.advance(1);
  asked[0]?.settle('outage');
  asked[1]?.settle('success');
  for (const { settle } of asked.slice(2)) settle('outage');
  expect(admission.origin.health.isDown('a')).toBe(false);
  // Nor do they count for what was sent after it: all the more is taken for usual.
  for (let failures = 0; failures < 6; failures++) send('a', 'outage', 1);
  expect(admission.origin.health.isDown('a')).toBe(false);
});

test('nor is an origin down when what was sent before an answer from it fails late', () => {
  const { admission, ask, send, clock } = openOrigin();
  const early = [ask('a'), ask('b')];
  clock.advance(1);
  send('c', 'success', 1);
  for (const { settle } of early) settle('outage');
  expect(admission.origin.health.isDown('c')).toBe(false);
});

test('what failed in an outage of half a second or longer says nothing of the usual', async () => {
  const { admission, ask, send, advance, clock } = openOrigin();
  send('a', 'outage');
  send('a', 'outage');
  const probe = ask('a');
  await advance(1200);
  probe.settle('success');
  expect(admission.origin.health.isDown('a')).toBe(false);
  clock.advance(1);
  send('a', 'outage', 1);
  send('a', 'outage', 1);
  expect(admission.origin.health.isDown('a')).toBe(true);
});
