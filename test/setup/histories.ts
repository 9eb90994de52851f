import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'vitest';

const { HISTORIES_TIMES: times = '1', HISTORIES_SEED: offset = '0' } = process.env;

/**
 * How many histories a test of a model draws, and from which seed. `npm run histories` makes it many
 * times as many, from other seeds, and counts them.
 */
export function histories(
  seed: number,
  numRuns: number,
): { readonly seed: number; readonly numRuns: number } {
  const drawn = { seed: seed + Number(offset), numRuns: numRuns * Number(times) };
  const { HISTORIES_LOG: log } = process.env;
  const { testPath = '', currentTestName = '' } = expect.getState();
  const test = `${basename(testPath)}: ${currentTestName}`;
  if (log !== undefined) appendFileSync(log, `${JSON.stringify({ test, ...drawn })}\n`);
  return drawn;
}
