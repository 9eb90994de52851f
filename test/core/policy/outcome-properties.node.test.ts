import fc from 'fast-check';
import { decide, presets } from 'steadfetch';
import { expect, test } from 'vitest';
import { classifyAnswer } from '../../../src/core/policy/outcome.ts';
import { anyDraw, anyTimeMs } from './arbitraries.ts';
import { anOperation } from './samples.ts';

const seed = 9112;

/** Any bytes, as a browser turns them into a header's text: one character for each. */
const anyBytes = fc.uint8Array({ maxLength: 64 }).map((bytes) => String.fromCharCode(...bytes));

const almostValid = fc.oneof(
  fc.nat({ max: 80 }).map(String),
  fc.nat({ max: 80 }).map(String),
  fc.nat().map(String),
  fc.bigInt({ min: 0n }).map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  fc.string({ unit: fc.constantFrom(...'0123456789 \t,.-+e:GMTSunNov'), maxLength: 32 }),
);

const anyHeader = fc.oneof(anyBytes, almostValid, almostValid, fc.constantFrom(null, undefined));

const anyStatus = fc.constantFrom(408, 413, 425, 429, 500, 502, 503, 504, 404);

const isFrom = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most;

test(`any bytes in Retry-After and Date give a finite delay or none (seed ${seed})`, () => {
  let waited = 0;
  let ignored = 0;
  fc.assert(
    fc.property(
      anyStatus,
      anyHeader,
      anyHeader,
      anyTimeMs,
      anyDraw,
      (status, retryAfter, date, nowMs, u) => {
        const header = (name: string): string | null | undefined =>
          name.toLowerCase() === 'date' ? date : retryAfter;
        const failure = classifyAnswer({ status, header }, nowMs, false);
        const retryAfterMs = failure.kind === 'http' ? failure.retryAfterMs : NaN;
        const operation = anOperation({ startedAt: nowMs });
        const context = { nowMs, random: () => u };
        const decision = decide(failure, operation, presets.interactive, context);
        if (retryAfterMs === undefined) ignored++;
        else if (decision.kind === 'retry') waited++;
        return (
          isFrom(retryAfterMs ?? 0, 0, Infinity) &&
          (decision.kind === 'stop' || isFrom(decision.delayMs, retryAfterMs ?? 0, 72_000))
        );
      },
    ),
    { seed, numRuns: 5000 },
  );
  // Both ways were taken, often.
  expect(waited).toBeGreaterThan(500);
  expect(ignored).toBeGreaterThan(500);
});
