import type { Clock, Random } from '../../src/index.ts';
import { lightAbort } from './light-abort.ts';

/**
 * All answers that say the same are one object here, which is never collected: whatever waits for its
 * end would be kept for ever.
 */
class DeafRegistry {
  register(): void {}
  unregister(): void {}
}

/**
 * Gives code that takes its time and chance from the globals the simulation's, and code that looks
 * for a window one, until the returned function is called. Node's own timers, which run the
 * simulation, are not affected.
 */
export function installGlobals(clock: Clock, random: Random, makesRequests = false): () => void {
  const real = {
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
    now: Date.now,
    random: Math.random,
    window: (globalThis as { window?: unknown }).window,
    AbortController: globalThis.AbortController,
    AbortSignal: globalThis.AbortSignal,
    FinalizationRegistry: globalThis.FinalizationRegistry,
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
    FinalizationRegistry: DeafRegistry,
    ...(!makesRequests && lightAbort),
  });
  Date.now = () => clock.now();
  Math.random = random;
  return () => {
    const { now, random: realRandom, ...globals } = real;
    Object.assign(globalThis, globals);
    Date.now = now;
    Math.random = realRandom;
  };
}
