import { delay, http, HttpResponse } from 'msw';
import { failTimes, seededRandom, virtualTime, type VirtualTime } from 'steadfetch/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { startServer } from './start-server.ts';

const server = startServer();
const url = 'http://api.test/products';
let time: VirtualTime;
afterEach(() => time.restore());

const realDate = Date;
const realSetTimeout = setTimeout;

test('it starts at a fixed time, or where it is told to', () => {
  time = virtualTime(vi);
  expect(new Date().toISOString()).toBe('2026-01-01T00:00:00.000Z');
  expect(time.now()).toBe(Date.now());
  time.restore();

  time = virtualTime(vi, { startAt: new Date('2027-02-03T04:05:06.789Z') });
  expect(new Date().toISOString()).toBe('2027-02-03T04:05:06.789Z');
  time.restore();

  time = virtualTime(vi, { startAt: 1000 });
  expect(time.now()).toBe(1000);
});

test('no time passes by itself', async () => {
  time = virtualTime(vi);
  const start = time.now();
  const fired = vi.fn<() => void>();
  setTimeout(fired, 1);
  await time.settle();
  expect(fired).not.toHaveBeenCalled();
  expect(time.now()).toBe(start);
});

test('every timer finds exactly the time at which it is due, and they fire in order', async () => {
  time = virtualTime(vi, { startAt: 0 });
  const random = seededRandom(1);
  const dueTimes = Array.from({ length: 200 }, () => Math.floor(random() * 10_000));
  const fired: [due: number, now: number][] = [];
  for (const due of dueTimes) setTimeout(() => fired.push([due, time.now()]), due);
  await time.advance(10_000);
  expect(fired).toEqual(dueTimes.toSorted((a, b) => a - b).map((due) => [due, due]));
  expect(time.now()).toBe(10_000);
});

test('what a timer sets off happens at its own time, promises and further timers included', async () => {
  time = virtualTime(vi, { startAt: 0 });
  const seen: number[] = [];
  const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  const run = async () => {
    for (const ms of [7, 300, 0, 13]) {
      await sleep(ms);
      await Promise.resolve();
      seen.push(time.now());
    }
  };
  const done = run();
  await time.advance(319);
  expect(seen).toEqual([7, 307, 307]);
  await time.advance(1);
  expect(seen).toEqual([7, 307, 307, 320]);
  await done;
});

test('an interval, a frame and performance.now keep the same time', async () => {
  time = virtualTime(vi, { startAt: 0 });
  const begin = performance.now();
  const seen: number[] = [];
  const interval = setInterval(() => seen.push(time.now(), performance.now() - begin), 250);
  await time.advance(750);
  clearInterval(interval);
  await time.advance(1000);
  expect(seen).toEqual([250, 250, 500, 500, 750, 750]);
});

test('requests are sent and answered at the time of the timer that caused them', async () => {
  time = virtualTime(vi, { startAt: 0 });
  const fault = failTimes(Infinity, 503);
  server.use(http.post(url, fault));
  const answered: number[] = [];
  const send = async () => {
    const response = await fetch(url, { method: 'POST', body: 'x'.repeat(1_000_000) });
    await response.text();
    answered.push(time.now());
  };
  const interval = setInterval(() => void send(), 333);
  await time.advance(1000);
  clearInterval(interval);
  expect(fault.requests.map(({ at }) => at)).toEqual([333, 666, 999]);
  expect(answered).toEqual([333, 666, 999]);
});

test("MSW's own delay takes virtual time", async () => {
  time = virtualTime(vi, { startAt: 0 });
  server.use(
    http.get(url, async () => {
      await delay(1234);
      return HttpResponse.text('fine');
    }),
  );
  const answered = fetch(url).then(() => time.now());
  await time.advance(5000);
  expect(await answered).toBe(1234);
});

test('settle lets a whole chain of requests finish', async () => {
  time = virtualTime(vi, { startAt: 0 });
  server.use(http.get(url, () => HttpResponse.json({ next: true })));
  let answers = 0;
  const chain = async () => {
    for (; answers < 10; answers += 1) await (await fetch(url)).json();
  };
  const done = chain();
  await time.settle();
  expect(answers).toBe(10);
  expect(time.now()).toBe(0);
  await done;
});

test('a loop that waits for no time is an error, and not a test that hangs', async () => {
  time = virtualTime(vi);
  let isOver = false;
  const loop = async () => {
    while (!isOver) await new Promise<void>((resolve) => setTimeout(resolve, 0));
  };
  const looping = loop();
  await expect(time.settle()).rejects.toThrow(
    'virtualTime: work went on for 10000 turns of the event loop without any time passing.',
  );
  isOver = true;
  await time.settle();
  await looping;
});

test('what a timer throws comes out of advance', async () => {
  time = virtualTime(vi);
  const error = new Error('thrown by a timer');
  setTimeout(() => {
    throw error;
  }, 100);
  await expect(time.advance(1000)).rejects.toBe(error);
  expect(vi.getTimerCount()).toBe(0);
});

test('two that wait at once wait at the same time, not one after the other', async () => {
  time = virtualTime(vi, { startAt: 0 });
  await Promise.all([time.advance(1000), time.advance(400)]);
  expect(time.now()).toBe(1000);
});

test('the clock is the virtual time, for what takes a clock', async () => {
  time = virtualTime(vi, { startAt: 0 });
  const { clock } = time;
  const fired: number[] = [];
  clock.setTimeout(() => fired.push(clock.now()), 500);
  const cleared = clock.setTimeout(() => fired.push(-1), 600);
  clock.clearTimeout(cleared);
  await time.advance(1000);
  expect(fired).toEqual([500]);
  expect(clock.now()).toBe(1000);
});

test('a timer that was set in real time can be cleared in virtual time', async () => {
  const fired = vi.fn<() => void>();
  const warn = vi.spyOn(console, 'warn');
  const timer = setTimeout(fired, 0);
  time = virtualTime(vi);
  clearTimeout(timer);
  time.restore();
  await new Promise<void>((resolve) => setTimeout(resolve, 5));
  expect(fired).not.toHaveBeenCalled();
  expect(warn).not.toHaveBeenCalled();
});

describe.each([
  ['restore()', () => time.restore()],
  ['vi.useRealTimers()', () => void vi.useRealTimers()],
])('after %s', (_, end) => {
  test.each(['advance', 'settle'] as const)('%s says that virtual time is over', async (method) => {
    time = virtualTime(vi);
    end();
    await expect(time[method](1)).rejects.toThrow(
      `${method}: virtual time is over, because restore() or useRealTimers() was called.`,
    );
  });
});

test('restore brings back real time and takes the global jest away, however often it is called', () => {
  time = virtualTime(vi);
  expect(globalThis).toHaveProperty('jest');
  time.restore();
  expect(globalThis).not.toHaveProperty('jest');
  expect(Date).toBe(realDate);
  expect(setTimeout).toBe(realSetTimeout);

  const next = virtualTime(vi);
  time.restore();
  expect(vi.isFakeTimers()).toBe(true);
  expect(globalThis).toHaveProperty('jest');
  next.restore();
});

test('a global jest that was there before is there again afterwards', () => {
  const own = { advanceTimersByTime: () => undefined };
  vi.stubGlobal('jest', own);
  time = virtualTime(vi);
  expect(globalThis).not.toHaveProperty('jest', own);
  time.restore();
  expect(globalThis).toHaveProperty('jest', own);
  vi.unstubAllGlobals();
});

test('it refuses to start over fake timers that are on already', () => {
  time = virtualTime(vi);
  expect(() => virtualTime(vi)).toThrow('virtualTime: fake timers are on already.');
});

describe("with Jest's timers, which cannot say whether they are on", () => {
  const { isFakeTimers: _, ...jest } = vi;

  test('it refuses to start over them', () => {
    time = virtualTime(jest);
    expect(() => virtualTime(jest)).toThrow('virtualTime: fake timers are on already.');
    time.restore();
    time = virtualTime(jest);
  });

  test('it tells them what must stay real', () => {
    const useFakeTimers = vi.spyOn(jest, 'useFakeTimers');
    time = virtualTime(jest);
    expect(useFakeTimers).toHaveBeenCalledWith(
      expect.objectContaining({
        doNotFake: ['hrtime', 'nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'],
      }),
    );
  });
});

test("work settles where the global setImmediate is gone, as in Jest's jsdom", async () => {
  server.use(http.get(url, () => HttpResponse.text('Lamp')));
  time = virtualTime(vi);
  vi.stubGlobal('MessageChannel', undefined);
  const text = fetch(url).then((response) => response.text());
  const { setImmediate } = globalThis;
  Reflect.deleteProperty(globalThis, 'setImmediate');
  try {
    await time.settle();
  } finally {
    Object.assign(globalThis, { setImmediate });
    vi.unstubAllGlobals();
  }
  expect(await text).toBe('Lamp');
});

test('it refuses a start and a step that are no time', async () => {
  for (const startAt of [new Date('never'), NaN, 0.5, 8.64e15 + 1]) {
    expect(() => virtualTime(vi, { startAt })).toThrow(
      'and must be a time: epoch milliseconds or a valid Date.',
    );
  }
  time = virtualTime(vi);
  for (const ms of [-1, 0.5, NaN, 2 ** 31]) {
    await expect(time.advance(ms)).rejects.toThrow(
      new TypeError(
        `advance: ms is ${ms}, and must be a whole number of milliseconds from 0 to 2147483647.`,
      ),
    );
  }
  await time.advance(0);
});
