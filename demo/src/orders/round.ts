import type { FormName, Order } from './order.ts';
import { createTabState, type TabState } from './tab-state.ts';

/** From empty ledgers to the next time that somebody starts over. */
export interface Round {
  readonly number: number;
  /** What is in the fields of each form. */
  readonly drafts: Readonly<Record<FormName, Order>>;
}

const draft: Order = { kite: 'kestrel', quantity: 1, name: '' };
const drafts = { naive: draft, steadfetch: draft };

export const openRound = (): TabState<Round> =>
  createTabState('windhover.round', { number: 1, drafts });

export const nextRound = ({ number }: Round): Round => ({ number: number + 1, drafts });

export const withDraft = (round: Round, form: FormName, order: Order): Round => ({
  ...round,
  drafts: { ...round.drafts, [form]: order },
});

/** Puts a kite into both forms. */
export const withKite = (round: Round, kite: string): Round => ({
  ...round,
  drafts: {
    naive: { ...round.drafts.naive, kite },
    steadfetch: { ...round.drafts.steadfetch, kite },
  },
});
