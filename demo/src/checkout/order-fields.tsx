import { useId } from 'react';
import { kites } from '../api/kites.ts';
import type { Order } from '../orders/order.ts';
import { KiteArt } from '../shop/kite-art.tsx';
import { kiteOf } from './describe-order.ts';
import './fields.css';

interface Props {
  readonly order: Order;
  readonly onChange: (order: Order) => void;
}

const quantities = [1, 2, 3, 4, 5];

/** What is ordered, and for whom. Both forms have the same. */
export function OrderFields({ order, onChange }: Props) {
  const id = useId();
  const kite = kiteOf(order);
  return (
    <div className="fields">
      <div
        className="kite-sky fields-kite"
        style={{ '--kite-sky': kite.sky } as React.CSSProperties}
      >
        <KiteArt kite={kite} />
      </div>
      <div className="field" data-field="kite">
        <label htmlFor={`${id}-kite`}>Kite</label>
        <select
          id={`${id}-kite`}
          value={kite.id}
          onChange={({ target }) => onChange({ ...order, kite: target.value })}
        >
          {kites.map(({ id: value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
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
      <div className="field" data-field="name">
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
