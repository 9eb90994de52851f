import { useMutation, type UseMutationResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { Order, Receipt } from '../orders/order.ts';
import type { Round } from '../orders/round.ts';
import type { TabState } from '../orders/tab-state.ts';
import type { Message } from '../status/message.ts';
import { totalOf } from './describe-order.ts';
import { naiveClient, placeNaiveOrder } from './naive-order.ts';
import { OrderFields } from './order-fields.tsx';
import { useDraft } from './use-draft.ts';

/** The form as it is mostly written. It does what it can with three retries. */
export function NaiveForm({ round }: { readonly round: TabState<Round> }) {
  const [order, setOrder] = useDraft(round, 'naive');
  const [number] = useState(() => round.getState().number);
  const { mutate, data, isPending, isError, failureCount } = useMutation<Receipt, Error, Order>(
    { mutationFn: (variables) => placeNaiveOrder(variables, number), retry: 3 },
    naiveClient,
  );
  const { title, detail } = describe({ data, isPending, isError, failureCount });
  return (
    <form
      aria-label="Naive form"
      onSubmit={(event) => {
        event.preventDefault();
        mutate(order);
      }}
    >
      <OrderFields order={order} onChange={setOrder} />
      <div className="slip-actions">
        <button className="button" data-primary disabled={isPending}>
          Order
        </button>
        <span className="slip-total">{totalOf(order)}</span>
      </div>
      <div className="slip-status" role="status">
        <p className="slip-title">{title}</p>
        <p className="slip-detail">{detail}</p>
      </div>
    </form>
  );
}

type Result = Pick<
  UseMutationResult<Receipt, Error, Order>,
  'data' | 'isPending' | 'isError' | 'failureCount'
>;

function describe({ data, isPending, isError, failureCount }: Result): Message {
  if (isPending) {
    return { title: 'Sending …', detail: failureCount > 0 ? `Retry ${failureCount} of 3.` : '' };
  }
  if (data) return { title: 'Ordered', detail: `Order number ${data.number}.` };
  if (isError) return { title: 'Something went wrong', detail: 'Please try again.' };
  return { title: '', detail: 'Nothing sent yet.' };
}
