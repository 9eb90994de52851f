/** The whole numbers that an option may have, both ends included. */
interface Range {
  readonly min: number;
  readonly max: number;
  /** What the number counts, as it follows "a whole number" in the message: ` of milliseconds`. */
  readonly unit?: string;
}

/** @throws TypeError unless the value is a whole number in the range. */
export function requireWhole(
  operation: string,
  option: string,
  value: number,
  { min, max, unit = '' }: Range,
): void {
  if (Number.isInteger(value) && value >= min && value <= max) return;
  reject(operation, option, value, `a whole number${unit} from ${min} to ${max}`);
}

const reported = new Set<string>();

export const isFunction = (value: unknown): boolean => typeof value === 'function';

/** In production a wrong option counts as not given, and that is said once. @returns false */
export function reportOnce(option: string): false {
  if (!reported.has(option)) console.warn(`[steadfetch] wrong option: ${option}`);
  reported.add(option);
  return false;
}

/**
 * The value of an option, if it is right. Any other is an error in development, and counts as not given
 * in production.
 *
 * @throws TypeError that names the operation, the option, its value and what is allowed.
 */
export function checkValue<T>(
  operation: string,
  option: string,
  value: T | undefined,
  isRight: (value: T) => boolean,
  allowed: string | false,
): T | undefined {
  if (value === undefined || isRight(value)) return value;
  if (process.env.NODE_ENV !== 'production') reject(operation, option, value, allowed);
  reportOnce(option);
  return undefined;
}

/**
 * Checks the names of options, in development.
 *
 * @throws TypeError when this is no object, or has an option that there is not; it names the nearest.
 */
export function checkNames(operation: string, options: unknown, names: readonly string[]): void {
  if (typeof options !== 'object' || options === null)
    reject(operation, 'its argument', options, 'an object');
  for (const [name, value] of Object.entries(options)) {
    if (names.includes(name)) continue;
    const [nearest = '', distance = 9] =
      names
        .map((known) => [known, distanceOf(known, name)] as const)
        .toSorted(([, one], [, other]) => one - other)[0] ?? [];
    const hint = distance <= Math.max(2, name.length / 3) ? `: did you mean ${nearest}?` : '';
    reject(operation, name, value, `left out: the options are ${names.join(', ')}${hint}`);
  }
}

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

/** How many letters must be changed, added or removed to make one word of the other (Levenshtein). */
function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [at, letter] of Array.from(from).entries()) {
    const next = [at + 1];
    for (const [index, other] of Array.from(to).entries()) {
      const [left = 0, above = 0, both = 0] = [next[index], row[index + 1], row[index]];
      next.push(Math.min(left + 1, above + 1, both + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/**
 * A long explanation is for developers: `false` leaves it out of a production build.
 *
 * @throws TypeError that names the operation, the option, its value and what is allowed.
 */
export function reject(
  operation: string,
  option: string,
  value: unknown,
  allowed: string | false,
): never {
  const rule = allowed === false ? 'is wrong here' : `must be ${allowed}`;
  throw new TypeError(`${operation}: ${option} is ${show(value)}, and ${rule}.`);
}

function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    // JSON has no NaN, and refuses a BigInt.
    const toJson = (_: string, part: unknown): unknown =>
      Number.isNaN(part) || typeof part === 'bigint' ? String(part) : part;
    return JSON.stringify(value, toJson);
  } catch {
    return 'an object';
  }
}
