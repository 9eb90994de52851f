import type { Clock, Random } from '../../src/index.ts';

/**
 * Gives code that takes its time and chance from the globals the simulation's, and code that looks
 * for a window one, until the returned function is called. Node's own timers, which run the
 * simulation, are not affected.
 */
export function installGlobals(clock: Clock, random: Random): () => void {
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    now: Date.now,
    random: Math.random,
    window: (globalThis as { window?: unknown }).window,
  };
  const virtualSetTimeout = (
    callback: (...args: unknown[]) => void,
    delayMs = 0,
    ...args: unknown[]
  ): unknown => clock.setTimeout(() => callback(...args), delayMs);
  Object.assign(globalThis, {
    setTimeout: virtualSetTimeout,
    clearTimeout: (handle: unknown) => clock.clearTimeout(handle),
    window: globalThis,
  });
  Date.now = () => clock.now();
  Math.random = random;
  return () => {
    const { setTimeout, clearTimeout, window, now, random: realRandom } = real;
    Object.assign(globalThis, { setTimeout, clearTimeout, window });
    Date.now = now;
    Math.random = realRandom;
  };
}
