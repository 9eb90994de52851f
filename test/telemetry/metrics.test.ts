import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { retry, type Steadfetch } from 'steadfetch';
import type { OutboxState } from 'steadfetch/outbox';
import { metrics } from 'steadfetch/telemetry';
import { beforeEach, expect, test, vi } from 'vitest';
import { createStore } from '../../src/core/lib/store.ts';
import { answer, hang, refuse } from '../core/fetch/fake-server.ts';
import { fakeTime, observe, settled } from '../core/fetch/observe.ts';
import { open, url } from './rig.ts';

beforeEach(fakeTime);

const noOperations = { succeeded: 0, failed: 0, cancelled: 0, superseded: 0 };
const nothing = {
  operations: noOperations,
  attempts: 0,
  retries: 0,
  retriesSucceeded: 0,
  retriesFailed: 0,
  requests: 0,
  endpointOutages: 0,
  originOutages: 0,
  endpointRecoveries: 0,
  originRecoveries: 0,
  probes: 0,
  deadLetters: 0,
  pausedMs: 0,
};
const load = (steady: Steadfetch, signal?: AbortSignal): Promise<Response> =>
  retry(steady, (context) => steady.fetch(url, context), { signal });

test('before anything has happened, no ratio is known', () => {
  const { steady } = open([answer()]);
  expect(metrics(steady).snapshot()).toEqual({
    counters: nothing,
    retryRate: undefined,
    retrySuccessRate: undefined,
    meanAttemptsToSuccess: undefined,
    down: 0,
    paused: 0,
    deadLetters: undefined,
  });
});

test('retries, their success, and the attempts until success are counted', async () => {
  const { steady } = open([refuse, answer(503), answer(), answer(404), answer()], {
    health: false,
  });
  const counted = metrics(steady);
  for (let count = 0; count < 3; count++) {
    observe(load(steady));
    await vi.runAllTimersAsync();
  }
  expect(counted.snapshot()).toEqual({
    counters: {
      ...nothing,
      operations: { ...noOperations, succeeded: 2, failed: 1 },
      attempts: 5,
      retries: 2,
      retriesSucceeded: 1,
      retriesFailed: 1,
      requests: 5,
    },
    retryRate: 0.4,
    retrySuccessRate: 0.5,
    meanAttemptsToSuccess: 2,
    down: 0,
    paused: 0,
    deadLetters: undefined,
  });
});

test('a retry that was aborted has neither succeeded nor failed', async () => {
  const { steady } = open([refuse, hang], { health: false });
  const counted = metrics(steady);
  const controller = new AbortController();
  observe(load(steady, controller.signal));
  await vi.advanceTimersByTimeAsync(600);
  controller.abort();
  await settled();
  const { counters, retrySuccessRate } = counted.snapshot();
  expect(counters).toMatchObject({ retries: 1, retriesSucceeded: 0, retriesFailed: 0 });
  expect(counters.operations).toEqual({ ...noOperations, cancelled: 1 });
  expect(retrySuccessRate).toBeUndefined();
});

test('an outage and the time paused in it are counted, also while they last', async () => {
  const { steady } = open([refuse, refuse, answer()]);
  const counted = metrics(steady);
  observe(steady.fetch(url));
  observe(steady.fetch(url));
  await settled();
  observe(steady.fetch(url));
  await vi.advanceTimersByTimeAsync(500);
  const during = counted.snapshot();
  expect(during.counters).toEqual({ ...nothing, requests: 2, endpointOutages: 1, pausedMs: 500 });
  expect(during).toMatchObject({ down: 1, paused: 1 });
  await vi.advanceTimersByTimeAsync(5000);
  const after = counted.snapshot();
  expect(after.counters).toEqual({
    ...nothing,
    requests: 3,
    endpointOutages: 1,
    endpointRecoveries: 1,
    probes: 1,
    pausedMs: 1200,
  });
  expect(after).toMatchObject({ down: 0, paused: 0 });
  expect(during.counters.pausedMs).toBe(500);
});

test('an operation that ends while it is paused is paused no more', async () => {
  const { steady } = open([refuse]);
  const counted = metrics(steady);
  observe(steady.fetch(url));
  observe(steady.fetch(url));
  await settled();
  const controller = new AbortController();
  observe(load(steady, controller.signal));
  await vi.advanceTimersByTimeAsync(300);
  controller.abort();
  await vi.advanceTimersByTimeAsync(5000);
  expect(counted.snapshot()).toMatchObject({ paused: 0, counters: { pausedMs: 300 } });
});

test('an outage of an origin is counted as one, with each of its probes, and so is its end', async () => {
  const { steady } = open([refuse, refuse, refuse, answer()]);
  const counted = metrics(steady);
  observe(steady.fetch(`${url}/a/list`));
  observe(steady.fetch(`${url}/b/count`));
  await settled();
  const began = { ...nothing, requests: 2, originOutages: 1 };
  expect(counted.snapshot()).toMatchObject({ counters: began, down: 1 });
  observe(steady.fetch(`${url}/a/list`));
  observe(steady.fetch(`${url}/a/list`));
  await vi.runAllTimersAsync();
  expect(counted.snapshot()).toMatchObject({
    // The endpoint that was probed has failed twice by then: it is down, and up, with its origin.
    counters: {
      ...began,
      requests: 4,
      endpointOutages: 1,
      endpointRecoveries: 1,
      originRecoveries: 1,
      probes: 2,
      pausedMs: 3600,
    },
    down: 0,
  });
});

test('a plain mutation counts by its requests alone', async () => {
  const { steady } = open([refuse], { health: false });
  const counted = metrics(steady);
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const mutation = new MutationObserver(client, {
    mutationFn: () => steady.fetch(url, { method: 'PUT' }),
  });
  observe(mutation.mutate());
  await vi.runAllTimersAsync();
  expect(counted.snapshot().counters).toEqual({ ...nothing, requests: 4 });
});

test('dead letters are those that the outbox has now, and those that became such', () => {
  const { steady } = open([answer()]);
  const empty = { due: 0, waiting: 0, sending: 0, paused: 0, dead: 0, oldestAt: undefined };
  const state: OutboxState = { ...empty, storage: 'durable', wasErased: false };
  const outbox = createStore(state);
  const counted = metrics(steady, { outbox });
  expect(counted.snapshot().deadLetters).toBe(0);
  outbox.set({ ...state, dead: 3 });
  outbox.set({ ...state, dead: 1 });
  outbox.set({ ...state, dead: 2 });
  expect(counted.snapshot().deadLetters).toBe(2);
  expect(counted.snapshot().counters).toEqual({ ...nothing, deadLetters: 4 });
});

test('after stop it counts no more', async () => {
  const { steady } = open([answer()]);
  const counted = metrics(steady);
  counted.stop();
  await load(steady);
  expect(counted.snapshot().counters).toEqual(nothing);
});
