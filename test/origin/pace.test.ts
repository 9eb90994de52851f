import { expect, test, vi } from 'vitest';
import { createPace } from '../../src/origin/pace.ts';

test('it starts at three tenths of the rate at which things were asked for', () => {
  const pace = createPace();
  pace.start(10, 6000, 0);
  expect(pace.getState()).toBe(0.3);
  expect(pace.gapMs()).toBe(2000);
});

test('it grows by half with each quick answer, up to the whole rate', () => {
  const pace = createPace();
  pace.start(10, 6000, 0);
  const shares = [1, 2, 3, 4].map(() => {
    pace.see(true);
    return pace.getState();
  });
  // 0.45, 0.675, and 1.0125 would be too much.
  expect(shares).toEqual([0.3 * 1.5, 0.3 * 1.5 * 1.5, 1, 1]);
  expect(pace.gapMs()).toBe(600);
});

test('it falls to two fifths with each slow answer or failure, down to a twentieth', () => {
  const pace = createPace();
  pace.start(10, 20_000, 1);
  const shares = [1, 2, 3, 4].map(() => {
    pace.see(false);
    return pace.getState();
  });
  // 0.0256 would be too little.
  expect(shares).toEqual([0.4, 0.4 * 0.4, 0.4 * 0.4 * 0.4, 0.05]);
});

test('from its least it grows as from elsewhere', () => {
  const pace = createPace();
  // 0.12, and 0.048 would be too little.
  pace.see(false);
  pace.see(false);
  pace.see(true);
  expect(pace.getState()).toBe(0.05 * 1.5);
});

test('where a tenth fails anyway it starts at half, and where a fifth does at the whole', () => {
  const pace = createPace();
  pace.start(1, 1000, 0.1);
  expect(pace.getState()).toBe(0.5);
  pace.start(1, 1000, 0.2);
  expect(pace.getState()).toBe(1);
  pace.start(1, 1000, 1);
  expect(pace.getState()).toBe(1);
});

test('what was held for less than a second counts as asked for within one', () => {
  const pace = createPace();
  pace.start(10, 1000, 0);
  const gapMs = pace.gapMs();
  pace.start(10, 0, 0);
  expect(pace.gapMs()).toBe(gapMs);
  // A clock that was set back while they were held.
  pace.start(10, -3_600_000, 0);
  expect(pace.gapMs()).toBe(gapMs);
});

test('a new release starts slowly again', () => {
  const pace = createPace();
  pace.start(1, 1000, 0);
  pace.see(true);
  pace.see(true);
  pace.start(1, 1000, 0);
  expect(pace.getState()).toBe(0.3);
});

test('what was asked for seldom goes as if it had been one in four seconds', () => {
  const pace = createPace();
  pace.start(1, 60_000, 1);
  expect(pace.gapMs()).toBe(4000);
});

test('the answers are good once quick ones have brought it to the whole rate', () => {
  const pace = createPace();
  pace.start(1, 1000, 0);
  for (let answer = 0; answer < 2; answer++) pace.see(true);
  expect(pace.isGood()).toBe(false);
  pace.see(true);
  expect(pace.isGood()).toBe(true);
  pace.see(false);
  expect(pace.isGood()).toBe(false);
});

test('it tells of a change, and not when it is at its most already', () => {
  const pace = createPace();
  const listener = vi.fn<() => void>();
  pace.subscribe(listener);
  for (let answer = 0; answer < 8; answer++) pace.see(true);
  expect(listener).toHaveBeenCalledTimes(3);
});
