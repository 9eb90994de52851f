import { expect, test } from 'vitest';
import { createLatency } from '../../src/origin/latency.ts';

test('what is not known is fast up to 300 ms', () => {
  const latency = createLatency();
  expect(latency.isFast('GET /a', 300)).toBe(true);
  expect(latency.isFast('GET /a', 301)).toBe(false);
});

test('an endpoint that is slow by nature is fast up to four times its usual', () => {
  const latency = createLatency();
  latency.learn('GET /slow', 1000);
  expect(latency.isFast('GET /slow', 4000)).toBe(true);
  expect(latency.isFast('GET /slow', 4001)).toBe(false);
});

test('each endpoint is measured by itself', () => {
  const latency = createLatency();
  latency.learn('GET /slow', 1000);
  expect(latency.isFast('GET /quick', 301)).toBe(false);
});

test('a quick endpoint is given 300 ms all the same', () => {
  const latency = createLatency();
  latency.learn('GET /quick', 5);
  expect(latency.isFast('GET /quick', 300)).toBe(true);
  expect(latency.isFast('GET /quick', 301)).toBe(false);
});

test('a tenth of each new answer goes into the usual', () => {
  const latency = createLatency();
  latency.learn('GET /a', 1000);
  latency.learn('GET /a', 2000);
  expect(latency.isFast('GET /a', 4400)).toBe(true);
  expect(latency.isFast('GET /a', 4401)).toBe(false);
});

test('ids in paths do not fill the memory, and what is asked for all the time is kept', () => {
  const latency = createLatency();
  latency.learn('GET /slow', 1000);
  for (let id = 0; id < 1000; id++) {
    latency.learn(`GET /items/${id}`, 10);
    latency.learn('GET /slow', 1000);
  }
  expect(latency.isFast('GET /slow', 4000)).toBe(true);
  expect(latency.isFast('GET /slow', 4001)).toBe(false);
});

test('an answer to a known endpoint makes none of the others unknown, however many there are', () => {
  const latency = createLatency();
  for (let id = 0; id < 100; id++) latency.learn(`GET /${id}`, 1000);
  latency.learn('GET /7', 1000);
  const known = Array.from({ length: 100 }, (_, id) => latency.isFast(`GET /${id}`, 4000));
  expect(known.filter(Boolean)).toHaveLength(100);
});

test('a clock that was set back while it waited for an answer breaks nothing', () => {
  const latency = createLatency();
  latency.learn('GET /a', -3_600_000);
  expect(latency.isFast('GET /a', 300)).toBe(true);
  expect(latency.isFast('GET /a', 301)).toBe(false);
});
