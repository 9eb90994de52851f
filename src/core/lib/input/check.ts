import { type DevelopmentText, inDevelopment } from '../development.ts';
import { toJson } from '../json.ts';
import { type Elsewhere, findMeant } from './nearest.ts';

/** The integers that an option may have, both ends included. */
interface Range {
  readonly min: number;
  readonly max: number;
  /** The unit, as it follows "a whole number" in the message: ` of milliseconds`. */
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
  rejectValue(operation, option, value, `a whole number${unit} from ${min} to ${max}`);
}

/** @throws TypeError unless the value is a key of React Query: a list. */
export function requireKey(
  operation: string,
  option: string,
  value: unknown,
  allowed: string,
): void {
  if (!Array.isArray(value)) reject(operation, option, value, allowed);
}

const reported = new Set<string>();

export const isFunction = (value: unknown): boolean => typeof value === 'function';

/** Whether a value is a number from 0 to 1. */
export const isShare = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= 1;

/** In production a wrong option counts as not set, with one warning. @returns false */
export function reportOnce(option: string): false {
  if (!reported.has(option)) console.warn(`[steadfetch] wrong option: ${option}`);
  reported.add(option);
  return false;
}

/**
 * Returns the value of an option if it is valid. An invalid one throws in development, and counts as not set
 * in production.
 *
 * @throws TypeError that names the operation, the option, its value and what is allowed.
 */
export function checkValue<T>(
  operation: string,
  option: string,
  value: T | undefined,
  isRight: (value: T) => boolean,
  allowed: DevelopmentText,
): T | undefined {
  if (value === undefined || isRight(value)) return value;
  inDevelopment(() => reject(operation, option, value, allowed));
  reportOnce(option);
  return undefined;
}

/**
 * Checks the names of options. Development only.
 *
 * @throws TypeError if the argument is not an object, or for an unknown option; it suggests the nearest name.
 */
export function checkNames(
  operation: string,
  options: unknown,
  names: readonly string[],
  elsewhere: Elsewhere = {},
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    reject(operation, 'its argument', options, 'an object');
  for (const [name, value] of Object.entries(options)) {
    if (names.includes(name)) continue;
    const meant = findMeant(name, names, elsewhere, false);
    const hint = meant === undefined ? '' : `: did you mean ${meant}?`;
    reject(operation, name, value, `left out: the options are ${names.join(', ')}${hint}`);
  }
}

/**
 * Checks the names of options that may have other members, such as those of fetch or React Query: only a name
 * close to one of ours, or one that belongs elsewhere, is a mistake.
 *
 * @throws TypeError that names what was meant.
 */
export function checkMisnamed(
  operation: string,
  options: object,
  names: readonly string[],
  others: readonly string[],
  elsewhere: Elsewhere,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || names.includes(name) || others.includes(name)) continue;
    const meant = findMeant(name, names, elsewhere, true);
    if (meant !== undefined) reject(operation, name, value, `left out: did you mean ${meant}?`);
  }
}

/**
 * For code whose bundle size counts: a production build names only the option, and `false` omits the text of
 * what is allowed.
 *
 * @throws TypeError that names the operation, the option, its value and what is allowed.
 */
export function reject(
  operation: string,
  option: string,
  value: unknown,
  allowed: DevelopmentText,
): never {
  inDevelopment(() => rejectValue(operation, option, value, allowed));
  throw new TypeError(`${operation}: wrong ${option}.`);
}

/** @throws TypeError that names the operation, the option, its value and what is allowed. */
export function rejectValue(
  operation: string,
  option: string,
  value: unknown,
  allowed: DevelopmentText,
): never {
  throw new TypeError(`${operation}: ${option} is ${show(value)}, and must be ${allowed}.`);
}

/** Names the class of a value, for its developer: that of the app, or else that of the platform. */
export function classOf(value: unknown): string {
  const name = Object.prototype.toString.call(value).slice(8, -1);
  const { constructor } = Object(value) as { readonly constructor?: { readonly name: string } };
  return name === 'Object' ? constructor?.name || name : name;
}

/** How much of an object a message has. */
const mostShown = 100;

function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  // The source of a function may be long.
  if (typeof value === 'function') return 'a function';
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    const json = JSON.stringify(value, toJson);
    return json.slice(0, mostShown) + (json[mostShown] ? '…' : '');
  } catch {
    return 'an object';
  }
}
