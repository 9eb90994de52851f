import { maxTimerMs } from './clock.ts';
import { presets } from './options.ts';

/** The names to choose from, or the least and the greatest number. */
const rules: ReadonlyMap<string, readonly unknown[]> = new Map<string, readonly unknown[]>([
  ['preset', Object.keys(presets)],
  ['backoff', ['full', 'equal', 'decorrelated', 'proportional', 'none']],
  ['baseMs', [0, maxTimerMs]],
  ['factor', [1, 100]],
  ['capMs', [0, maxTimerMs]],
  ['maxRetries', [0, Infinity]],
  ['deadlineMs', [0, Infinity]],
  ['timeout', [1, Infinity]],
  // Its jitter, up to a fifth on top, must still fit a timer.
  ['maxRetryAfterMs', [0, Math.floor(maxTimerMs / 1.2)]],
  ['whenDown', ['pause', 'fail']],
  ['whenBack', ['refetch', 'leave']],
  ['maxPauseMs', [0, Infinity]],
  ['priority', ['user-blocking', 'user-visible', 'background']],
  ['shouldRetry', []],
]);

/** @throws TypeError when this is no option, or its value is not as it must be. */
export function checkOption(operation: string, name: string, value: unknown): void {
  const rule = rules.get(name);
  if (!rule) {
    reject(operation, name, value, `left out: the options are ${[...rules.keys()].join(', ')}`);
  }
  if (value === undefined) return;
  if (name === 'shouldRetry') {
    if (typeof value !== 'function') reject(operation, name, value, 'a function');
  } else if (typeof rule[0] === 'string') {
    if (!rule.includes(value)) reject(operation, name, value, `one of ${rule.join(', ')}`);
  } else checkRange(operation, name, value, rule as readonly [number, number]);
}

function checkRange(
  operation: string,
  name: string,
  value: unknown,
  [least, greatest]: readonly [number, number],
): void {
  const isIn = (limit: unknown): boolean =>
    typeof limit === 'number' && limit >= least && limit <= greatest;
  if (isIn(value)) return;
  const range = `a number from ${least} to ${greatest}`;
  if (name !== 'timeout') return reject(operation, name, value, range);
  const { headersMs, bodyIdleMs } = Object(value) as Record<string, unknown>;
  if (isIn(headersMs) && isIn(bodyIdleMs)) return;
  reject(operation, name, value, `${range}, or { headersMs, bodyIdleMs } of such numbers`);
}

/** Says which option is wrong, with which value, and what is allowed. */
export function reject(operation: string, option: string, value: unknown, allowed: string): never {
  throw new TypeError(`${operation}: ${option} is ${show(value)}, and must be ${allowed}.`);
}

function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  try {
    const plain = (_: string, part: unknown): unknown =>
      Number.isNaN(part) || typeof part === 'bigint' ? String(part) : part;
    return JSON.stringify(value, plain);
  } catch {
    return 'an object';
  }
}
