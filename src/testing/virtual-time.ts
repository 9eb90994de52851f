import { type Clock, systemClock } from '../lib/clock.ts';
import { reject } from '../lib/check.ts';
import { type FakeTimers, stepToNextTimer } from './fake-timers.ts';
import { requireDelay } from './options.ts';
import { type Act, settle } from './settle.ts';
import { installJest } from './testing-library.ts';

/** How virtual time begins. */
export interface VirtualTimeOptions {
  /**
   * The time at the start, in epoch milliseconds or as a Date. A fixed one by default, so that a
   * test shows the same times whenever it runs; not 0, which much code takes for "never".
   * @default 2026-01-01T00:00:00Z
   */
  startAt?: number | Date;
  /**
   * React's `act`, or Testing Library's: pass it if the test renders anything. All work is then
   * done inside it, which also makes React show what was suspended at once, and not after up to
   * 300 ms of real time.
   */
  act?: Act;
}

/** The time of a test, which passes only when the test says so. */
export interface VirtualTime {
  /** The virtual time, in epoch milliseconds: what `Date.now()` returns. */
  readonly now: () => number;
  /**
   * Lets time pass, from one timer to the next, and at each of them lets all work settle before
   * going on. So whatever a timer sets off (a request, its answer, a render) happens at the very
   * millisecond at which it was due. At the end the last work has settled too.
   *
   * @param ms - A whole number of milliseconds from 0 to 2^31 - 1.
   * @throws TypeError if `ms` is anything else; whatever a timer's callback throws.
   */
  readonly advance: (ms: number) => Promise<void>;
  /** Lets everything happen that needs no time: answers of MSW, renders, timers that are due now. */
  readonly settle: () => Promise<void>;
  /** The same time as an object, for what takes a clock as an argument. */
  readonly clock: Clock;
  /** Returns to real time. Timers that have not fired are dropped. A second call does nothing. */
  readonly restore: () => void;
}

const defaultStartAt = Date.UTC(2026, 0, 1);

/** The earliest and latest time that a Date can hold (ECMA-262 §21.4.1.1). */
const latestTime = 8.64e15;

/**
 * Starts virtual time, on Vitest's fake timers, in a way that works with MSW in Node, React Query,
 * React and Testing Library:
 *
 * - Timers and `Date` are virtual. What MSW, streams and React run on stays real: promises,
 *   `nextTick`, `setImmediate`, `MessageChannel`. `AbortSignal.timeout` stays real too, as nothing
 *   can change it.
 * - `findBy*` and `waitFor` let virtual time pass, exactly as `advance` does, and count their
 *   timeout in it. They would hang otherwise: they know fake timers only by the global `jest`,
 *   which this sets until `restore()`. user-event needs `advance` as its `advanceTimers`.
 *
 * Requests need Node, where MSW answers inside the process. In a browser its answers come from a
 * service worker, and nothing can tell when they are through; all the rest works there too.
 *
 * @param vi - Vitest's `vi`.
 * @throws Error if fake timers are on already, and TypeError if `startAt` is no time.
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
  const { startAt = defaultStartAt, act } = options;
  const start = Number(startAt);
  if (!Number.isInteger(start) || Math.abs(start) > latestTime) {
    reject('virtualTime', 'startAt', startAt, 'a time: epoch milliseconds or a valid Date');
  }
  if (vi.isFakeTimers()) {
    throw new Error(
      'virtualTime: fake timers are on already. Call restore() on the earlier virtual time, in afterEach for example, and do not call vi.useFakeTimers() beside it.',
    );
  }
  vi.useFakeTimers({
    now: start,
    toNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'],
    // A real timer that was set earlier can still be cleared.
    shouldClearNativeTimers: true,
  });
  const removeJest = installJest(vi);
  let isRestored = false;

  return {
    now: () => systemClock.now(),
    advance: async (ms) => {
      requireDelay('advance', 'ms', ms);
      const end = systemClock.now() + ms;
      await settle(vi, act);
      while (systemClock.now() < end) {
        await settle(vi, act, () => stepToNextTimer(vi, end - systemClock.now()));
      }
    },
    settle: () => settle(vi, act),
    clock: systemClock,
    restore: () => {
      if (isRestored) return;
      isRestored = true;
      removeJest();
      vi.useRealTimers();
    },
  };
}
