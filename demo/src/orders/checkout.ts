import { emptyBooks } from './books.ts';
import type { FormName } from './order.ts';
import { createOrderDesk, type OrderDesk } from './order-desk.ts';
import { nextRound, openRound, type Round } from './round.ts';
import type { TabState } from './tab-state.ts';
import type { Trouble } from './troubles.ts';

/** The checkout's side of the API: a desk for each form, and the round that they are in. */
export interface Checkout {
  readonly desks: Readonly<Record<FormName, OrderDesk>>;
  readonly round: TabState<Round>;
  readonly play: (trouble: Trouble) => void;
  /** New forms, and desks with empty books. */
  readonly startOver: () => void;
}

export function createCheckout(): Checkout {
  const desks = { naive: createOrderDesk('naive'), steadfetch: createOrderDesk('steadfetch') };
  const both = Object.values(desks);
  const round = openRound();
  const open = (): void => {
    for (const desk of both) desk.open(round.getState().number);
  };
  open();
  return {
    desks,
    round,
    play(trouble) {
      for (const desk of both) desk.play(trouble);
    },
    startOver() {
      round.update(nextRound);
      open();
      for (const { books } of both) {
        books.update(({ trouble }) => ({ ...emptyBooks, trouble }));
      }
    },
  };
}
