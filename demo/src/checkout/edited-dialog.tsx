import { useEffect, useId, useRef } from 'react';
import type { Confirmation } from 'steadfetch/react';
import type { Order, Receipt } from '../orders/order.ts';
import { describeOrder } from './describe-order.ts';
import './dialog.css';

interface Props {
  readonly confirmation: Confirmation<Receipt, Error, Order>;
  /** What may have been booked. */
  readonly earlier: Order | undefined;
  readonly onTakeBack: (order: Order) => void;
}

/** What was sent may have been booked, and this is something else: only the user knows whether both are meant. */
export function EditedDialog({ confirmation, earlier, onTakeBack }: Props) {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  const { variables, reason, confirm, cancel } = confirmation;
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    dialog.current?.showModal();
    // What does no harm is what Enter does.
    back.current?.focus();
  }, []);
  return (
    <dialog
      ref={dialog}
      className="dialog"
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-text`}
      onCancel={cancel}
    >
      <h3 id={`${id}-title`}>Order this, too?</h3>
      <div id={`${id}-text`}>
        <p>
          {reason === 'key-expired'
            ? 'Your earlier order may have been booked, and is too old to check. If you send it now, you may get two.'
            : 'What you sent before may have been booked. If you send this now, you may get both.'}
        </p>
        <dl>
          <dt>Before</dt>
          <dd>{earlier ? describeOrder(earlier) : 'an order'}</dd>
          <dt>Now</dt>
          <dd>{describeOrder(variables)}</dd>
        </dl>
      </div>
      <div className="dialog-actions">
        <button type="button" className="button" onClick={() => void confirm()}>
          Order this, too
        </button>
        <button
          ref={back}
          type="button"
          className="button"
          data-primary
          onClick={() => {
            if (earlier) onTakeBack(earlier);
            cancel();
          }}
        >
          Back to the first
        </button>
      </div>
    </dialog>
  );
}
