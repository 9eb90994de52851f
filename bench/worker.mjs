import { GCProfiler } from 'node:v8';
import { groups } from './contenders.mjs';

const [measurement, group, name] = process.argv.slice(2);

/** Each measures a block, and gives its figure per call. */
const measurements = {
  /**
   * Microseconds of processor time, in user and system mode: the garbage collector's and the
   * compiler's threads count, other processes do not.
   */
  cpu: () => async (run, calls) => {
    const start = process.cpuUsage();
    await run(calls);
    const { user, system } = process.cpuUsage(start);
    return (user + system) / calls;
  },

  /**
   * Bytes allocated. As long as nothing is collected, that is how much the heap has grown; so the
   * young generation must be larger than the block, and a collection makes the figure void.
   */
  garbage: () => async (run, calls) => {
    globalThis.gc();
    const profiler = new GCProfiler();
    profiler.start();
    const before = process.memoryUsage();
    await run(calls);
    const after = process.memoryUsage();
    if (profiler.stop().statistics.length > 0) {
      throw new Error(`${name}: the garbage collector ran within a block of ${calls} calls.`);
    }
    return (after.heapUsed + after.external - before.heapUsed - before.external) / calls;
  },

  /** Timers set. Counted from before the libraries are loaded, as some keep the function. */
  timers() {
    let timers = 0;
    for (const [owner, key] of [
      [globalThis, 'setTimeout'],
      [AbortSignal, 'timeout'],
    ]) {
      const original = owner[key];
      owner[key] = (...args) => {
        timers++;
        return original.apply(owner, args);
      };
    }
    return async (run, calls) => {
      const before = timers;
      await run(calls);
      return (timers - before) / calls;
    };
  },
};

const measure = measurements[measurement]();
const run = await groups[group][name]();
process.on('message', (calls) => void measure(run, calls).then((figure) => process.send(figure)));
process.send('ready');
