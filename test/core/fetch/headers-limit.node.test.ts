import { expect, test } from 'vitest';
import { bodyBytes, headersLimitOf } from '../../../src/core/fetch/attempt/limits/headers-limit.ts';
import { presets } from '../../../src/core/policy/options.ts';

const { interactive, critical, background } = presets;

const repeated = { isRepeated: true, usualMs: undefined, leftMs: 0, factor: 1 };

/** The limits of the first attempts of an operation, in milliseconds, each of which is late. */
const limits = (policy: typeof interactive, bytes = 0): readonly number[] =>
  [0, 1, 2, 3, 4].map((timeouts) => headersLimitOf(policy, bytes, { ...repeated, timeouts }));

test.each([
  ['interactive', interactive, [10_000, 20_000, 40_000, 10_000, 10_000]],
  ['critical', critical, [10_000, 20_000, 40_000, 10_000, 10_000]],
  ['background', background, [30_000, 60_000, 120_000, 30_000, 30_000]],
] as const)(
  'a limit is doubled twice, for what is slow by nature, and then short again, for what hangs: %s',
  (_, policy, expected) => {
    expect(limits(policy)).toEqual(expected);
  },
);

test('the limit of a body that takes its time stays long, for a line that is slower still', () => {
  // 640 kB at 32 kB/s are 20 s more.
  expect(limits(critical, 640_000)).toEqual([30_000, 60_000, 120_000, 120_000, 120_000]);
});

test.each([
  ['2000000', 2_000_000],
  ['2 MB', 0],
  ['-1', 0],
  ['', 0],
])(
  'a Request whose content-length is "%s" counts as %i bytes, so that no header removes its limit',
  (length, bytes) => {
    const request = new Request('https://api.example/files', {
      method: 'POST',
      body: 'text',
      headers: { 'content-length': length },
    });
    expect(bodyBytes(request, {})).toBe(bytes);
  },
);
