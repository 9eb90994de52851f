import { expect, test } from 'vitest';
import { headersLimitOf } from '../../../src/core/fetch/attempt/headers-limit.ts';
import { presets } from '../../../src/core/policy/options.ts';

const { interactive, critical, background } = presets;

/** The limits of the first attempts of an operation, in milliseconds, each of which is late. */
const limits = (policy: typeof interactive, bytes = 0): readonly number[] =>
  [0, 1, 2, 3].map((timeouts) =>
    Math.round(headersLimitOf(policy, bytes, { isRepeated: true, timeouts, usualMs: undefined })),
  );

test.each([
  ['interactive', interactive, [10_000, 20_000, 40_000, 40_000]],
  ['critical, whose ten retries leave 12.2 s for each', critical, [10_000, 12_222, 12_222, 12_222]],
  ['background', background, [30_000, 60_000, 81_429, 81_429]],
  ['one retry', { ...interactive, maxRetries: 1 }, [10_000, 20_000, 40_000, 40_000]],
  ['no deadline', { ...critical, deadlineMs: Infinity }, [10_000, 20_000, 40_000, 40_000]],
  [
    'neither a deadline nor an end of retries',
    { ...critical, deadlineMs: Infinity, maxRetries: Infinity },
    [10_000, 20_000, 40_000, 40_000],
  ],
  ['retries without end', { ...critical, maxRetries: Infinity }, [10_000, 20_000, 40_000, 40_000]],
  [
    'a deadline below the limit',
    { ...critical, deadlineMs: 5000 },
    [10_000, 10_000, 10_000, 10_000],
  ],
] as const)(
  'a limit grows after late attempts as far as the last retry begins before the deadline: %s',
  (_, policy, expected) => {
    expect(limits(policy)).toEqual(expected);
  },
);

test('the limit of a body that takes its time is doubled whatever the deadline, for a line that is slower still', () => {
  // 640 kB at 32 kB/s are 20 s more.
  expect(limits(critical, 640_000)).toEqual([30_000, 60_000, 120_000, 120_000]);
});
