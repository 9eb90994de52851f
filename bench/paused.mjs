import { createSteadfetch } from '../dist/index.js';
import { turn } from './timers.mjs';

/**
 * Of requests to 40 endpoints of a server that is down: they are asked for in groups of 100, wait,
 * and are let go.
 *
 * @returns CPU time of the main thread, in milliseconds: of the longest task, and of all of them.
 */
export async function pause(requests) {
  let isDown = true;
  let longest = 0;
  let total = 0;
  // Of the main thread: those that collect garbage beside it keep no page waiting.
  let start = process.threadCpuUsage();
  // Each timer is a task of its own, as in a browser; Node runs several in one turn of its loop.
  const endTask = () => {
    const { user, system } = process.threadCpuUsage(start);
    longest = Math.max(longest, user + system);
    // Shorter ones are those of the watch itself.
    if (user + system > 50) total += user + system;
    start = process.threadCpuUsage();
  };
  const clock = {
    now: () => Date.now(),
    elapsedMs: () => performance.now(),
    setTimeout: (callback, delayMs) =>
      setTimeout(() => {
        endTask();
        callback();
      }, delayMs),
    clearTimeout: (timer) => clearTimeout(timer),
    unref: (timer) => timer?.unref(),
  };
  const steady = createSteadfetch({
    clock,
    fetch: async () => (isDown ? new Response(null, { status: 503 }) : Response.json({})),
  });
  const get = (endpoint, path, policy) =>
    steady.fetch(`https://api.example/e${endpoint}/${path}`, { policy }).catch(() => {});
  for (let index = 0; index < 20; index++) await get(index % 4, 'a', { whenDown: 'fail' });

  let isOver = false;
  const watch = () => {
    endTask();
    if (!isOver) setImmediate(watch);
  };
  longest = total = 0;
  start = process.threadCpuUsage();
  watch();
  const all = [];
  for (let index = 0; index < requests; index++) {
    all.push(get(index % 40, String(index)));
    if (index % 100 === 99) await turn();
  }
  await new Promise((resolve) => setTimeout(resolve, 3000));
  isDown = false;
  await Promise.all(all);
  isOver = true;
  return { longestMs: longest / 1000, totalMs: total / 1000 };
}
