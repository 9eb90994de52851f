import { checkNames, reject, reportOnce } from '../lib/check.ts';

/** The least and the greatest value of each number. */
type Ranges = Readonly<Record<string, readonly [least: number, greatest: number]>>;

/**
 * The options, where each is a number in its range. Any other is an error in development, and counts as
 * not given in production.
 *
 * @throws TypeError that names the operation, the option, its value and the allowed range.
 */
export function checkNumbers<Options extends object>(
  operation: string,
  options: Options,
  ranges: Ranges,
): Options {
  if (process.env.NODE_ENV !== 'production') checkNames(operation, options, Object.keys(ranges));
  const usable = Object.entries(options).filter(([name, value]) => {
    const [least = 0, greatest = Infinity] = ranges[name] ?? [];
    if (value === undefined || (typeof value === 'number' && value >= least && value <= greatest))
      return true;
    if (process.env.NODE_ENV !== 'production')
      reject(operation, name, value, `a number from ${least} to ${greatest}`);
    return reportOnce(name);
  });
  return Object.fromEntries(usable) as Options;
}
