import { useId } from 'react';
import type { Order } from '../orders/order.ts';
import { KiteField } from '../shop/kite-field.tsx';

interface Props {
  readonly order: Order;
  readonly onChange: (order: Order) => void;
}

const quantities = [1, 2, 3, 4, 5];

/** What is ordered, and for whom. Both forms have the same. */
export function OrderFields({ order, onChange }: Props) {
  const id = useId();
  return (
    <div className="fields">
      <KiteField kite={order.kite} onChange={(kite) => onChange({ ...order, kite })} />
      <div className="field" data-field="quantity">
        <label htmlFor={`${id}-quantity`}>Quantity</label>
        <select
          id={`${id}-quantity`}
          value={order.quantity}
          onChange={({ target }) => onChange({ ...order, quantity: Number(target.value) })}
        >
          {quantities.map((quantity) => (
            <option key={quantity}>{quantity}</option>
          ))}
        </select>
      </div>
      <div className="field" data-field="wide">
        <label htmlFor={`${id}-name`}>Your name</label>
        <input
          id={`${id}-name`}
          value={order.name}
          required
          autoComplete="off"
          onChange={({ target }) => onChange({ ...order, name: target.value })}
        />
      </div>
    </div>
  );
}
