import { type Clock, maxTimerMs, systemClock } from '../core/lib/clock.ts';
import {
  checkNames,
  checkValue,
  isFunction,
  reject,
  requireWhole,
} from '../core/lib/input/check.ts';
import {
  areFake,
  type FakeTimers,
  installJest,
  realMethods,
  stepToNextTimer,
  virtualMethods,
} from './fake-timers.ts';
import { requireMswRuns } from './runtime.ts';
import { type Act, runUntilIdle } from './run-until-idle.ts';

/** Options of {@link virtualTime}. */
export interface VirtualTimeOptions {
  /**
   * The time at the start, in epoch milliseconds or as a Date. The default is fixed, so that a test shows
   * the same times whenever it runs. It is not 0, which much code takes for "never".
   * @default 2026-01-01T00:00:00Z
   */
  startAt?: number | Date;
  /**
   * React's `act`, or Testing Library's: pass it if the test renders anything. All work is then done
   * inside it. React then shows suspended content at once, and not after up to 300 ms of real time.
   * @default none
   */
  act?: Act;
}

/** The time of a test, which passes only when the test advances it. */
export interface VirtualTime {
  /** The virtual time, in epoch milliseconds: what `Date.now()` returns. */
  readonly now: () => number;
  /**
   * Lets time pass, from one timer to the next, and lets all work settle at each of them. So whatever a
   * timer starts (a request, its answer, a render) happens at the millisecond at which the timer was due.
   * When the promise resolves, all work has settled.
   *
   * @param ms - A whole number of milliseconds from 0 to 2^31 - 1.
   * @throws TypeError if `ms` is anything else; whatever a timer's callback throws.
   */
  readonly advance: (ms: number) => Promise<void>;
  /** Runs everything that takes no time: MSW's answers, renders, timers that are due now. */
  readonly settle: () => Promise<void>;
  /** The virtual time as a Clock, for code that takes one as an argument. */
  readonly clock: Clock;
  /** Returns to real time. Timers that have not fired are dropped. A second call does nothing. */
  readonly restore: () => void;
}

const defaultStartAt = Date.UTC(2026, 0, 1);

/** The earliest and latest time that a Date can hold (ECMA-262 §21.4.1.1). */
const latestTime = 8.64e15;

/**
 * Starts virtual time on the fake timers of Vitest or Jest. It works with MSW in Node, React Query, React
 * and Testing Library:
 *
 * - Timers and `Date` are virtual. What MSW, streams and React run on stays real: promises,
 *   `nextTick`, `setImmediate`, `MessageChannel`. `AbortSignal.timeout` stays real too, because nothing
 *   can change it.
 * - `findBy*` and `waitFor` let virtual time pass, as `advance` does, and count their timeout in it.
 *   They know fake timers only by the global `jest`, and would hang without it, so this function sets
 *   that global until `restore()`. user-event needs `advance` as its `advanceTimers`. Under Jest they move
 *   Jest's clock themselves, in steps of 50 ms: use `advance` where the time matters.
 *
 * Requests need Node, where MSW answers inside the process. In a browser, answers come from a service
 * worker, and nothing shows when they have arrived. Everything else works in browsers, too.
 *
 * @param vi - The `vi` of Vitest 3, 4 or 5, or the `jest` of Jest 30.
 * @throws Error if fake timers are on already, or if the MSW that is installed does not run here.
 * @throws TypeError if `startAt` is not a valid time.
 *
 * @example
 * ```tsx
 * import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
 * import { act, render, screen } from '@testing-library/react';
 * import { userEvent } from '@testing-library/user-event';
 * import { http, HttpResponse } from 'msw';
 * import { setupServer } from 'msw/node';
 * import { failTimes, virtualTime } from 'steadfetch/testing';
 * import { expect, test, vi } from 'vitest';
 *
 * const fault = failTimes(1, 503);
 * const server = setupServer(
 *   http.get('/api/name', fault),
 *   http.get('/api/name', () => HttpResponse.json('Lamp')),
 * );
 * server.listen();
 *
 * const loadName = async () => {
 *   const response = await fetch('/api/name');
 *   if (!response.ok) throw new Error('The server failed.');
 *   return (await response.json()) as string;
 * };
 *
 * function Name() {
 *   const { data } = useQuery({ queryKey: ['name'], queryFn: loadName, retryDelay: 1000 });
 *   return <p>{data ?? 'Loading'}</p>;
 * }
 *
 * test('shows the name after one retry', async () => {
 *   const time = virtualTime(vi, { act });
 *   const user = userEvent.setup({ advanceTimers: time.advance });
 *   try {
 *     render(<QueryClientProvider client={new QueryClient()} children={<Name />} />);
 *     await time.advance(1000);
 *     expect(screen.getByText('Lamp')).toBeDefined();
 *     expect(fault.requests.map(({ at }) => at)).toEqual([time.now() - 1000, time.now()]);
 *     await user.click(screen.getByText('Lamp'));
 *   } finally {
 *     time.restore();
 *   }
 * });
 * ```
 */
export function virtualTime(vi: FakeTimers, options: VirtualTimeOptions = {}): VirtualTime {
  if (!isFunction(Object(vi).useFakeTimers))
    reject('virtualTime', 'its first argument', vi, `Vitest's vi, or Jest's jest`);
  checkNames('virtualTime', options, ['startAt', 'act']);
  const { startAt = defaultStartAt, act } = options;
  checkValue('virtualTime', 'act', act, isFunction, `React's act, or Testing Library's`);
  const start = Number(startAt);
  if (!Number.isInteger(start) || Math.abs(start) > latestTime) {
    reject('virtualTime', 'startAt', startAt, 'a time: epoch milliseconds or a valid Date');
  }
  requireMswRuns('virtualTime');
  if (areFake(vi)) {
    throw new Error(
      'virtualTime: fake timers are on already. Call restore() on the earlier virtual time, in afterEach for example, and do not call useFakeTimers() beside it.',
    );
  }
  vi.useFakeTimers({
    now: start,
    // By name: Vitest 3 and 4 do not know `toNotFake`, and would replace `setImmediate`, which MSW needs.
    toFake: [...virtualMethods],
    doNotFake: [...realMethods],
    // Real timers that were set earlier can still be cleared.
    shouldClearNativeTimers: true,
  });
  const removeJest = installJest(vi);
  let isRestored = false;
  const requireFake = (operation: string): void => {
    if (!areFake(vi))
      throw new Error(
        `${operation}: virtual time is over, because restore() or useRealTimers() was called. Call virtualTime() in each test, in beforeEach for example.`,
      );
  };

  return {
    now: () => systemClock.now(),
    advance: async (ms) => {
      requireFake('advance');
      requireWhole('advance', 'ms', ms, { min: 0, max: maxTimerMs, unit: ' of milliseconds' });
      const end = systemClock.now() + ms;
      await runUntilIdle(vi, act);
      while (systemClock.now() < end) {
        await runUntilIdle(vi, act, () => stepToNextTimer(vi, end - systemClock.now()));
      }
    },
    settle: async () => {
      requireFake('settle');
      await runUntilIdle(vi, act);
    },
    clock: systemClock,
    restore: () => {
      if (isRestored) return;
      isRestored = true;
      removeJest();
      vi.useRealTimers();
    },
  };
}
