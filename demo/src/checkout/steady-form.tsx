import { useRef, useState } from 'react';
import { useSafeSubmit, useMutationStatus } from 'steadfetch/react';
import type { Round } from '../orders/round.ts';
import type { TabState } from '../orders/tab-state.ts';
import { totalOf } from './describe-order.ts';
import { EditedDialog } from './edited-dialog.tsx';
import { OrderFields } from './order-fields.tsx';
import { placeOrder } from './place-order.ts';
import { SubmitButtons } from './submit-buttons.tsx';
import { messageFor } from './submit-message.ts';
import { SubmitStatus } from './submit-status.tsx';
import { useDraft } from './use-draft.ts';

/** The form with Steadfetch: one order has one key, whatever happens to the network and the page. */
export function SteadyForm({ round }: { readonly round: TabState<Round> }) {
  const [order, setOrder] = useDraft(round, 'steadfetch');
  const [number] = useState(() => round.getState().number);
  const [options] = useState(() => placeOrder(number));
  const { submit, data, isPending, unknown, confirmation, target } = useSafeSubmit(options, {
    form: `checkout-${number}`,
    // So that the user can be told what it was, after a reload.
    keepPayload: true,
  });
  const status = useMutationStatus(target);
  const [isBusy, setIsBusy] = useState(false);
  const orderButton = useRef<HTMLButtonElement>(null);

  const press = async (): Promise<void> => {
    setIsBusy(false);
    const result = await submit(order);
    setIsBusy(result.status === 'busy');
  };
  return (
    <form
      aria-label="Steadfetch form"
      onSubmit={(event) => {
        event.preventDefault();
        void press();
      }}
    >
      <OrderFields order={order} onChange={setOrder} />
      <div className="slip-actions">
        <SubmitButtons ref={orderButton} status={status} isPending={isPending} />
        <span className="slip-total">{totalOf(order)}</span>
      </div>
      <SubmitStatus
        status={status}
        isUnknown={unknown !== undefined}
        message={messageFor({ status, data, unknown, isBusy: isBusy && isPending })}
      />
      {confirmation && (
        <EditedDialog
          confirmation={confirmation}
          earlier={unknown?.variables}
          onTakeBack={setOrder}
        />
      )}
    </form>
  );
}
