import type { Kite } from '../api/kites.ts';
import { KiteArt } from './kite-art.tsx';
import { WindScale } from './wind-scale.tsx';

const euros = new Intl.NumberFormat('en-IE', {
  style: 'currency',
  currency: 'EUR',
  maximumFractionDigits: 0,
});

export function KiteCard({ kite }: { readonly kite: Kite }) {
  const { name, kind, spanCm, priceEur, wind, sky } = kite;
  return (
    <li className="kite" style={{ '--kite-sky': sky } as React.CSSProperties}>
      <div className="kite-sky">
        <KiteArt kite={kite} />
      </div>
      <h3 className="kite-name">{name}</h3>
      <p className="kite-price">{euros.format(priceEur)}</p>
      <p className="kite-kind">
        {kind}, {spanCm} cm
      </p>
      <WindScale wind={wind} />
    </li>
  );
}
