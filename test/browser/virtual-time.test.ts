import { virtualTime, type VirtualTime } from 'steadfetch/testing';
import { afterEach, expect, test, vi } from 'vitest';

let time: VirtualTime;
afterEach(() => time.restore());

test('timers, frames and promises keep virtual time in a browser too', async () => {
  time = virtualTime(vi, { startAt: 0 });
  const seen: [what: string, at: number][] = [];
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const run = async () => {
    for (const ms of [100, 250]) {
      await sleep(ms);
      seen.push(['sleep', Date.now()]);
    }
    requestAnimationFrame(() => seen.push(['frame', Date.now()]));
  };
  const done = run();
  await time.advance(349);
  expect(seen).toEqual([['sleep', 100]]);
  await time.advance(1000);
  // Frames come at whole multiples of 16 ms.
  expect(seen).toEqual([
    ['sleep', 100],
    ['sleep', 350],
    ['frame', 352],
  ]);
  expect(time.now()).toBe(1349);
  await done;
});
