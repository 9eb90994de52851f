import { createContext, useContext, useEffect } from 'react';
import { inEuros, kiteOf } from '../shop/shop.tsx';

/** What is sent. */
export interface Order {
  readonly kite: string;
  readonly quantity: number;
}

/** What the shop answers. */
export interface Receipt {
  readonly number: number;
}

export interface FormProps {
  readonly order: Order;
  /** Where it is sent. */
  readonly url: string;
}

export const describeOrder = ({ kite, quantity }: Order): string =>
  `${quantity} ${kiteOf(kite).name}`;

/** Is told whether the form on a side is closed, because it has ordered. */
export const Closing = createContext<(isClosed: boolean) => void>(() => {});

/** What is ordered; or what was, and then the form is closed. */
export function Slip({ order, receipt }: { readonly order: Order; receipt: Receipt | undefined }) {
  const onClose = useContext(Closing);
  const isClosed = receipt !== undefined;
  useEffect(() => onClose(isClosed), [onClose, isClosed]);
  const price = inEuros(kiteOf(order.kite).priceEur * order.quantity);
  return (
    <p className="slip">
      <b>{describeOrder(order)}</b> {receipt ? `Order number ${receipt.number}` : price}
    </p>
  );
}
