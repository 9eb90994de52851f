import { describeReason } from 'steadfetch/telemetry';
import { expect, test } from 'vitest';
import { pauses, reasons } from '../../src/telemetry/words.ts';

test.each([
  ['unavailable', 'the server is unavailable'],
  ['max-retries', 'all retries were made'],
  ['server-down', 'the server is down'],
] as const)('the reason %s in words is: %s', (reason, words) => {
  expect(describeReason(reason)).toBe(words);
});

test('a code that a decision and a pause have in common means the same', () => {
  const common = Object.keys(pauses).filter((code) => code in reasons);
  expect(common).toEqual(['rate-limited']);
  expect(pauses['rate-limited']).toBe(reasons['rate-limited']);
});
