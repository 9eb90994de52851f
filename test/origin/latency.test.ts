import { describe, expect, test } from 'vitest';
import { createLatency, type Latency } from '../../src/origin/latency.ts';

/** The longest answer that is not slow, in whole milliseconds. */
function slowest(latency: Latency, endpoint: string, isLong = false): number {
  let ms = 0;
  while (latency.isFast(endpoint, ms + 1, isLong)) ms++;
  return ms;
}

describe('what was asked while all was well', () => {
  test('is fast up to twice its usual, however long that is', () => {
    const latency = createLatency();
    latency.learn('GET /slow', 1000);
    expect(slowest(latency, 'GET /slow')).toBe(2000);
  });

  test('is given 300 ms where it is quick', () => {
    const latency = createLatency();
    latency.learn('GET /quick', 5);
    expect(slowest(latency, 'GET /quick')).toBe(300);
  });

  test('has a tenth of each new answer in its usual', () => {
    const latency = createLatency();
    latency.learn('GET /a', 1000);
    latency.learn('GET /a', 2000);
    expect(slowest(latency, 'GET /a')).toBe(2200);
  });

  test('is measured by itself, and tells what to expect of others with its method', () => {
    const latency = createLatency();
    latency.learn('GET /quick', 100);
    latency.learn('GET /report', 1000);
    latency.learn('GET /report', 1000);
    expect(slowest(latency, 'GET /report')).toBe(2000);
    expect(slowest(latency, 'GET /quick')).toBe(542);
    // 100, then 0.9 x 100 + 0.1 x 1000, and the same again.
    expect(slowest(latency, 'GET /new')).toBe(542);
    expect(slowest(latency, 'POST /new')).toBe(300);
  });

  test('is hardly slower for one answer that took very long: an outage often begins with those', () => {
    const latency = createLatency();
    latency.learn('GET /a', 50);
    latency.learn('GET /a', 20_000);
    // 1.2 s, for all that is known of it by itself.
    expect(slowest(latency, 'GET /a')).toBe(2400);
    // 0.9 x 50 + 0.1 x 1200.
    expect(slowest(latency, 'GET /new')).toBe(330);
    latency.learn('GET /a', 20_000);
    // 0.9 x 1200 + 0.1 x 4800.
    expect(slowest(latency, 'GET /a')).toBe(3120);
  });

  test('is no quicker or slower for what came after an outage', () => {
    const latency = createLatency();
    latency.learn('GET /a', 50);
    latency.note('GET /a', 4000);
    expect(slowest(latency, 'GET /a')).toBe(300);
    expect(slowest(latency, 'GET /a', true)).toBe(300);
  });

  test('does not fill the memory with the ids in its paths, and is kept while it is asked', () => {
    const latency = createLatency();
    latency.learn('GET /slow', 1000);
    for (let id = 0; id < 1000; id++) {
      latency.learn(`GET /items/${id}`, 10);
      latency.learn('GET /slow', 1000);
    }
    expect(slowest(latency, 'GET /slow')).toBe(2000);
  });

  test('makes none of the others unknown, however many there are', () => {
    const latency = createLatency();
    for (let id = 0; id < 100; id++) latency.learn(`GET /${id}`, 1000);
    latency.learn('GET /7', 1000);
    for (let id = 0; id < 100; id++) expect(latency.isFast(`GET /${id}`, 2000, false)).toBe(true);
  });

  test('is hardly quicker for one that took less than no time: the clock was set back', () => {
    const latency = createLatency();
    latency.learn('GET /a', 1000);
    latency.learn('GET /a', -3_600_000);
    expect(slowest(latency, 'GET /a')).toBe(1800);
  });
});

describe('what was never asked while all was well', () => {
  test('is given 300 ms where nothing is known', () => {
    expect(slowest(createLatency(), 'GET /a')).toBe(300);
    expect(slowest(createLatency(), 'GET /a', true)).toBe(300);
  });

  test('is fast up to four times the quickest answer to its method, but for a second at most', () => {
    const latency = createLatency();
    latency.note('POST /orders', 240);
    latency.note('POST /orders/1', 220);
    latency.note('POST /orders', 900);
    expect(slowest(latency, 'POST /orders/2')).toBe(880);
    expect(slowest(latency, 'GET /orders')).toBe(300);
    latency.note('GET /orders', 400);
    expect(slowest(latency, 'GET /orders')).toBe(1000);
  });

  test('may take longer long after its origin was back: it is slow by nature', () => {
    const latency = createLatency();
    latency.note('POST /photos', 3000);
    expect(slowest(latency, 'POST /photos')).toBe(1000);
    expect(slowest(latency, 'POST /photos', true)).toBe(12_000);
  });
});
