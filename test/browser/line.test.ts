import { createSteadfetch, type SteadfetchEvent } from 'steadfetch';
import { afterEach, beforeEach, expect, inject, onTestFinished, test, vi } from 'vitest';
import { fakeTime, observe, rejectionOf } from '../core/fetch/observe.ts';
import { openTalk } from './talk.ts';

// A browser opens six connections to an origin over HTTP/1.1. The network is real and time is not.
beforeEach(fakeTime);
afterEach(() => void vi.useRealTimers());

const [origin] = inject('origins');
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** Takes all six connections, until it is let go. */
function takeConnections(steady: ReturnType<typeof createSteadfetch>): () => Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  const taken = numbers(6).map(() =>
    rejectionOf(steady.fetch(openTalk(origin, 'hang').url, { signal, timeout: Infinity })),
  );
  const release = async (): Promise<void> => {
    controller.abort();
    await Promise.all(taken);
  };
  onTestFinished(release);
  return release;
}

test('what waits for a connection is not timed, and goes when one is free', async () => {
  const steady = createSteadfetch();
  const events: SteadfetchEvent[] = [];
  steady.subscribe((event) => void events.push(event));
  const release = takeConnections(steady);
  const behind = numbers(20).map(() => steady.json(openTalk(origin, 'ok').url));
  const states = behind.map(observe);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(states.map(({ state }) => state)).toEqual(states.map(() => 'pending'));
  await release();
  expect(await Promise.all(behind)).toEqual(behind.map(() => ({ id: 1 })));
  const ends = events.flatMap((event) =>
    event.type === 'request:end' ? [event.outcome.kind] : [],
  );
  expect(ends.filter((kind) => kind !== 'aborted')).toEqual(behind.map(() => 'ok'));
  expect(events.filter(({ type }) => type === 'pause:start')).toEqual([]);
});

test('a seventh behind six that hang is late at its own limit, after theirs', async () => {
  const steady = createSteadfetch();
  const [seventh, ...first] = numbers(7)
    .map(() => observe(steady.json(openTalk(origin, 'hang').url)))
    .toReversed();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(first.map(({ error }) => error)).toMatchObject(first.map(() => ({ code: 'timeout' })));
  await vi.advanceTimersByTimeAsync(9999);
  expect(seventh?.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect(seventh?.error).toMatchObject({ code: 'timeout' });
});

test('an endpoint that hangs among healthy ones is late at its own limit, and the others are answered', async () => {
  const steady = createSteadfetch();
  const hanging = observe(steady.json(openTalk(origin, 'hang').url));
  const healthy = numbers(30).map(() => steady.json(openTalk(origin, 'ok').url));
  expect(await Promise.all(healthy)).toHaveLength(30);
  await vi.advanceTimersByTimeAsync(9999);
  expect(hanging.state).toBe('pending');
  await vi.advanceTimersByTimeAsync(1);
  expect(hanging.error).toMatchObject({ code: 'timeout' });
});
