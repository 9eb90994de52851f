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

/** @throws TypeError that names the operation, the option, its value and what is allowed. */
export function reject(operation: string, option: string, value: unknown, allowed: string): never {
  throw new TypeError(`${operation}: ${option} is ${show(value)}, and must be ${allowed}.`);
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
