import { type FakeTimers, watchTimers } from './fake-timers.ts';
import { nextTurn } from './next-turn.ts';

/** React's `act`, or Testing Library's. */
export type Act = (work: () => Promise<void>) => PromiseLike<void>;

/**
 * How many turns of the event loop in a row must pass without a sign of work. A request that MSW
 * answers in Node takes one or two, however big its body; after it there may be a render, an effect
 * and another request, which show no sign of themselves.
 */
const quietTurns = 20;

/** Work that goes on for longer than this without any time passing will go on for ever. */
const maxTurns = 10_000;

/**
 * Lets everything happen that needs no time: the timers that are due, promises, requests that MSW
 * answers, and React's renders and effects.
 *
 * The sign of work is a timer set, cleared or fired: React Query sets one for each notification.
 * Nothing here looks at the real clock, so a busy machine changes nothing.
 *
 * It begins with `step`, inside `act` as well: what fires there may render.
 */
export async function settle(
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
    // Here too, and not only after the turn: by then what fired may have been set again.
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

/** Testing Library turns the act environment off while it waits, but what `act` runs still needs it. */
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
