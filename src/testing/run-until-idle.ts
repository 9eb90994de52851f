import { type FakeTimers, watchTimers } from './fake-timers.ts';
import { realSetImmediate } from './runtime.ts';

/** React's `act`, or Testing Library's. */
export type Act = (work: () => Promise<void>) => PromiseLike<void>;

/**
 * How many turns of the event loop must pass in a row without a sign of work. A request that MSW answers
 * in Node takes one or two, whatever the size of its body. A render, an effect and another request may
 * follow it without any sign.
 */
const quietTurns = 20;

/** After this many turns without any time passing, the work is considered endless. */
const maxTurns = 10_000;

/**
 * Runs everything that takes no time: timers that are due, promises, requests that MSW answers, and React's
 * renders and effects.
 *
 * The sign of work is a timer that is set, cleared or fired: React Query sets one for each notification. The
 * real clock is never read, so the result is the same on a busy machine.
 *
 * @param step - Runs first, inside `act`, because the timers that it fires may render.
 */
export async function runUntilIdle(
  vi: FakeTimers,
  act: Act | undefined,
  step: () => void = () => vi.advanceTimersByTime(0),
): Promise<void> {
  const haveTimersChanged = watchTimers(vi);
  let turns = 0;
  let lastWork = 0;
  const watchForWork = (): void => {
    if (haveTimersChanged()) lastWork = turns;
  };
  const turn = async (): Promise<void> => {
    if (turns === 1) step();
    else vi.advanceTimersByTime(0);
    // Checked here and after the turn: in between, a timer that fired may be set again.
    watchForWork();
    await nextTurn();
  };
  while (turns - lastWork < quietTurns) {
    if (turns === maxTurns) {
      throw new Error(
        `virtualTime: work went on for ${maxTurns} turns of the event loop without any time passing. A loop waits for a delay of 0 ms; give it a longer one.`,
      );
    }
    turns += 1;
    await (act ? insideAct(act, turn) : turn());
    watchForWork();
  }
}

/** Testing Library turns the act environment off while it waits, but the work inside `act` still needs it. */
async function insideAct(act: Act, work: () => Promise<void>): Promise<void> {
  const environment = globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean | undefined };
  const before = environment.IS_REACT_ACT_ENVIRONMENT;
  environment.IS_REACT_ACT_ENVIRONMENT = true;
  try {
    await act(work);
  } finally {
    environment.IS_REACT_ACT_ENVIRONMENT = before;
  }
}

/**
 * Resolves one turn of the real event loop later, when everything that was ready has run: promises,
 * `nextTick`, streams, and React's scheduler. No virtual time passes.
 *
 * Node has `MessageChannel`, too, but its `setImmediate` is eight times faster. Each channel is used
 * once: further messages on it might arrive in the same turn.
 */
function nextTurn(): Promise<void> {
  const setImmediate = realSetImmediate();
  return new Promise((resolve) => {
    if (setImmediate) {
      setImmediate(resolve);
      return;
    }
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}
