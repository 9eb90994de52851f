import { expect, test, vi } from 'vitest';
import { createSlots } from '../../src/origin/slots.ts';

test('its state is how many are in flight', () => {
  const slots = createSlots({});
  expect(slots.getState()).toBe(0);
  slots.take();
  slots.take();
  slots.free();
  expect(slots.getState()).toBe(1);
});

test('there is a place while fewer are in flight than may be', () => {
  const slots = createSlots({ maxInFlight: 2 });
  slots.take();
  expect(slots.isFree()).toBe(true);
  slots.take();
  expect(slots.isFree()).toBe(false);
  slots.free();
  expect(slots.isFree()).toBe(true);
});

test('without a number there is always a place', () => {
  const slots = createSlots({});
  for (let request = 0; request < 1000; request++) slots.take();
  expect(slots.isFree()).toBe(true);
});

test('one more than there are places, as a canary is, takes up the next place to be free', () => {
  const slots = createSlots({ maxInFlight: 1 });
  slots.take();
  slots.take();
  slots.free();
  expect(slots.isFree()).toBe(false);
});

test('who watches is told of each one that is taken and freed, and of nothing after leaving', () => {
  const slots = createSlots({ maxInFlight: 2 });
  const seen: number[] = [];
  const listener = vi.fn<() => void>(() => void seen.push(slots.getState()));
  const leave = slots.subscribe(listener);
  slots.take();
  slots.take();
  slots.free();
  leave();
  slots.free();
  expect(seen).toEqual([1, 2, 1]);
});
