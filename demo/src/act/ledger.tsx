import { useSyncExternalStore } from 'react';
import type { Booking, Books } from '../api/books.ts';
import type { KeptState } from '../api/kept-state.ts';

interface Props<T> {
  readonly books: KeptState<Books<T>>;
  readonly title: string;
  readonly describe: (what: T) => string;
}

/** The other side: what the shop has booked, and will send. */
export function Ledger<T>({ books, title, describe }: Props<T>) {
  const { booked, requests } = useSyncExternalStore(books.subscribe, books.getState);
  return (
    <div className="ledger" role="group" aria-label={title} data-arrived={requests}>
      <h3>{title}</h3>
      {booked.length === 0 ? (
        <p>Nothing.</p>
      ) : (
        <ol>
          {booked.map((one: T & Booking) => (
            <li key={one.number} data-duplicate={one.isDuplicate || undefined}>
              {describe(one)}{' '}
              <span>
                key <code>{one.key.slice(0, 8)}</code>
              </span>
              {one.isDuplicate && <strong> Duplicate</strong>}
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
