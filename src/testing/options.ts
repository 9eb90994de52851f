import { maxTimerMs } from '../lib/clock.ts';
import { reject, requireWhole } from '../lib/check.ts';

/** How many requests a fault is for. */
export interface TimesOption {
  /**
   * How many requests, from the first on: a whole number from 0, or Infinity for all of them. The
   * later ones are let through.
   * @default Infinity
   */
  times?: number;
}

/** Throws a TypeError unless `times` can be a number of requests. */
export function requireTimes(operation: string, times: number): void {
  if (times === Infinity || (Number.isInteger(times) && times >= 0)) return;
  reject(operation, 'times', times, 'a whole number from 0, or Infinity');
}

/** Throws a TypeError unless `status` says that a request failed. */
export function requireErrorStatus(operation: string, status: number): void {
  requireWhole(operation, 'status', status, { min: 400, max: 599 });
}

/** Throws a TypeError unless `seed` can seed a generator of 32 bits. */
export function requireSeed(operation: string, seed: number): void {
  requireWhole(operation, 'seed', seed, { min: 0, max: 2 ** 32 - 1 });
}

/** Throws a TypeError unless a timer can hold the delay. */
export function requireDelay(operation: string, option: string, delayMs: number): void {
  requireWhole(operation, option, delayMs, { min: 0, max: maxTimerMs, unit: ' of milliseconds' });
}

/** A fault's description: what it does, put in words for the requests that it is for. */
export function describeTimes(times: number, describe: (requests: string) => string): string {
  if (times === Infinity) return describe('every request');
  const requests = times === 1 ? 'the first request' : `the first ${times} requests`;
  return `${describe(requests)}, then lets them through`;
}
