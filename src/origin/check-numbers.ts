import { reject } from '../lib/check.ts';

/** The least and the greatest value of each number. */
type Ranges = Readonly<Record<string, readonly [least: number, greatest: number]>>;

/** @throws TypeError that names the operation, the option, its value and the allowed range. */
export function checkNumbers(operation: string, options: object, ranges: Ranges): void {
  for (const [name, value] of Object.entries(options)) {
    const [least, greatest] =
      ranges[name] ??
      reject(operation, name, value, `left out: the options are ${Object.keys(ranges).join(', ')}`);
    const isRight = typeof value === 'number' && value >= least && value <= greatest;
    if (value !== undefined && !isRight)
      reject(operation, name, value, `a number from ${least} to ${greatest}`);
  }
}
