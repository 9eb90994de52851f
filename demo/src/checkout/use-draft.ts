import { useSyncExternalStore } from 'react';
import type { FormName, Order } from '../orders/order.ts';
import { type Round, withDraft } from '../orders/round.ts';
import type { TabState } from '../orders/tab-state.ts';

/** What is in the fields of a form: kept over a reload, so that one need not type it again. */
export function useDraft(
  round: TabState<Round>,
  form: FormName,
): readonly [order: Order, change: (order: Order) => void] {
  const { drafts } = useSyncExternalStore(round.subscribe, round.getState);
  return [drafts[form], (order) => round.update((current) => withDraft(current, form, order))];
}
