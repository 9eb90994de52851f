import { act, render, screen } from '@testing-library/react';
import { useCountdown } from 'steadfetch/react';
import { type VirtualTime, virtualTime } from 'steadfetch/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

let time: VirtualTime;
let startedAt: number;
beforeEach(() => {
  time = virtualTime(vi, { act: (work) => act(work) });
  startedAt = time.now();
});
afterEach(() => time.restore());

/** A countdown, and when it rendered what, in milliseconds since the start. */
function createCountdown(name = '') {
  const renders: [number, number | undefined][] = [];
  return {
    renders,
    Countdown({ at }: { readonly at: number | undefined }) {
      const seconds = useCountdown(at);
      renders.push([time.now() - startedAt, seconds]);
      return <span>{`${name}${seconds ?? 'none'}`}</span>;
    },
  };
}

test('whole seconds, rounded up, at the very millisecond at which they change', async () => {
  const { renders, Countdown } = createCountdown();
  render(<Countdown at={startedAt + 2500} />);
  await time.advance(10_000);
  expect(renders).toEqual([
    [0, 3],
    [500, 2],
    [1500, 1],
    [2500, 0],
  ]);
});

test('an exact number of seconds shows that number first', async () => {
  const { renders, Countdown } = createCountdown();
  render(<Countdown at={startedAt + 2000} />);
  await time.advance(10_000);
  expect(renders).toEqual([
    [0, 2],
    [1000, 1],
    [2000, 0],
  ]);
});

test.each([
  ['back by an hour', -3_600_000],
  ['back by a day', -86_400_000],
])('a clock that is set %s while it counts makes it no longer', async (_, byMs) => {
  const { renders, Countdown } = createCountdown();
  render(<Countdown at={startedAt + 3000} />);
  await time.advance(500);
  vi.setSystemTime(time.now() + byMs);
  await time.advance(10_000);
  expect(renders.map(([, seconds]) => seconds)).toEqual([3, 2, 1, 0]);
});

test('a time that is given once the clock was set back is one by the new clock', async () => {
  const { renders, Countdown } = createCountdown();
  const { rerender } = render(<Countdown at={startedAt + 3000} />);
  vi.setSystemTime(startedAt - 3_600_000);
  rerender(<Countdown at={time.now() + 2000} />);
  await time.advance(10_000);
  expect(renders.map(([, seconds]) => seconds)).toEqual([3, 2, 1, 0]);
});

describe('the time', () => {
  test('undefined is no countdown, and needs no timer', () => {
    const { renders, Countdown } = createCountdown();
    const before = vi.getTimerCount();
    render(<Countdown at={undefined} />);
    expect(renders).toEqual([[0, undefined]]);
    expect(vi.getTimerCount()).toBe(before);
  });

  test('in the past is 0, and needs no timer', () => {
    const { renders, Countdown } = createCountdown();
    const before = vi.getTimerCount();
    render(<Countdown at={startedAt - 5000} />);
    expect(renders).toEqual([[0, 0]]);
    expect(vi.getTimerCount()).toBe(before);
  });

  test('now is 0', () => {
    const { renders, Countdown } = createCountdown();
    render(<Countdown at={startedAt} />);
    expect(renders).toEqual([[0, 0]]);
  });

  test('further away than a timer can hold counts down all the same, without a hot loop', async () => {
    const { renders, Countdown } = createCountdown();
    render(<Countdown at={startedAt + 2 ** 31 + 5000} />);
    await time.advance(2000);
    // 2^31 + 5000 ms are 2147488.648 s.
    expect(renders).toEqual([
      [0, 2_147_489],
      [648, 2_147_488],
      [1648, 2_147_487],
    ]);
  });

  test('that is no time at all stops no other countdown, in production', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    onTestFinished(() => void vi.unstubAllEnvs());
    const { renders, Countdown } = createCountdown();
    const odd = createCountdown('odd ');
    render(
      <>
        <odd.Countdown at={Infinity} />
        <odd.Countdown at={NaN} />
        <Countdown at={startedAt + 2000} />
      </>,
    );
    await time.advance(10_000);
    expect(renders.at(-1)).toEqual([2000, 0]);
  });

  test('may change, come and go', async () => {
    const { renders, Countdown } = createCountdown();
    const { rerender } = render(<Countdown at={startedAt + 5000} />);
    await time.advance(100);
    rerender(<Countdown at={startedAt + 1300} />);
    await time.advance(300);
    rerender(<Countdown at={undefined} />);
    await time.advance(5000);
    rerender(<Countdown at={startedAt + 6000} />);
    await time.advance(10_000);
    expect(renders).toEqual([
      [0, 5],
      [100, 2],
      [300, 1],
      [400, undefined],
      [5400, 1],
      [6000, 0],
    ]);
  });
});

test('it follows the wall clock, not the number of its ticks: after a sleep it is right at once', async () => {
  const { renders, Countdown } = createCountdown();
  render(<Countdown at={startedAt + 60_000} />);
  await time.advance(500);
  // The machine sleeps: the wall clock goes on, and timers do not.
  vi.setSystemTime(startedAt + 40_000);
  await time.advance(1000);
  expect(renders.map(([, seconds]) => seconds)).toEqual([60, 20, 19].slice(0, renders.length));
  expect(screen.getByText(/^(20|19)$/)).toBeDefined();
});

test('all countdowns share one timer, and the last to go takes it away', async () => {
  const { Countdown } = createCountdown();
  const before = vi.getTimerCount();
  const times = Array.from({ length: 100 }, (_, index) => startedAt + 1000 + index * 37);
  const { rerender } = render(
    <>
      {times.map((at) => (
        <Countdown key={at} at={at} />
      ))}
    </>,
  );
  expect(vi.getTimerCount()).toBe(before + 1);
  await time.advance(1500);
  expect(vi.getTimerCount()).toBe(before + 1);
  rerender(<Countdown key={times[99]} at={times[99]} />);
  expect(vi.getTimerCount()).toBe(before + 1);
  rerender(<p />);
  expect(vi.getTimerCount()).toBe(before);
});

test('after the last second there is no timer left', async () => {
  const { Countdown } = createCountdown();
  const before = vi.getTimerCount();
  render(<Countdown at={startedAt + 2000} />);
  await time.advance(2000);
  expect(vi.getTimerCount()).toBe(before);
});

test('each renders when its own seconds change, and nobody else does', async () => {
  const first = createCountdown('first ');
  const second = createCountdown('second ');
  let parents = 0;
  function Parent() {
    parents++;
    return (
      <>
        <first.Countdown at={startedAt + 2000} />
        <second.Countdown at={startedAt + 1600} />
      </>
    );
  }
  render(<Parent />);
  await time.advance(10_000);
  expect(first.renders).toEqual([
    [0, 2],
    [1000, 1],
    [2000, 0],
  ]);
  expect(second.renders).toEqual([
    [0, 2],
    [600, 1],
    [1600, 0],
  ]);
  expect(parents).toBe(1);
});
