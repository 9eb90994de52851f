import { useSyncExternalStore } from 'react';
import type { BookedOrder } from '../orders/books.ts';
import type { OrderDesk } from '../orders/order-desk.ts';
import { describeOrder } from './describe-order.ts';
import './ledger.css';

interface Props {
  readonly desk: OrderDesk;
  /** Whose ledger it is. */
  readonly of: string;
}

/** The other side: what the shop has booked, and will send. */
export function Ledger({ desk: { books }, of }: Props) {
  const { orders, requestCount } = useSyncExternalStore(books.subscribe, books.getState);
  const hasDuplicates = orders.some(({ isDuplicate }) => isDuplicate);
  return (
    <section
      className="ledger"
      aria-label={`Booked by the shop, ${of}`}
      data-verdict={hasDuplicates ? 'bad' : orders.length > 0 ? 'ok' : undefined}
    >
      <h3>Booked by the shop</h3>
      <p className="ledger-count">
        <b>{orders.length}</b> {orders.length === 1 ? 'order' : 'orders'}
        <span data-arrived={requestCount}>
          {requestCount} {requestCount === 1 ? 'request' : 'requests'}
        </span>
      </p>
      {orders.length === 0 ? (
        <p className="ledger-empty">Nothing yet.</p>
      ) : (
        <ol className="ledger-orders">
          {orders.map((order) => (
            <LedgerRow key={order.number} order={order} />
          ))}
        </ol>
      )}
    </section>
  );
}

function LedgerRow({ order }: { readonly order: BookedOrder }) {
  const { at, key, isDuplicate } = order;
  return (
    <li data-duplicate={isDuplicate || undefined}>
      <time dateTime={new Date(at).toISOString()}>{new Date(at).toLocaleTimeString('en-GB')}</time>
      <span className="ledger-what">{describeOrder(order)}</span>
      <span className="ledger-key">
        key <code>{key.slice(0, 8)}</code>
      </span>
      {isDuplicate && <strong className="ledger-mark">Duplicate</strong>}
    </li>
  );
}
