import type { Kite } from '../api/kites.ts';
import { formatCheckoutHash } from '../checkout/hash.ts';
import { euros } from './euros.ts';
import { KiteArt } from './kite-art.tsx';
import { WindScale } from './wind-scale.tsx';

interface Props {
  readonly kite: Kite;
  readonly onOrder: (kite: Kite) => void;
}

export function KiteCard({ kite, onOrder }: Props) {
  const { name, kind, spanCm, priceEur, wind, sky } = kite;
  return (
    <li className="kite" style={{ '--kite-sky': sky } as React.CSSProperties}>
      <div className="kite-sky">
        <KiteArt kite={kite} />
        <a className="kite-order" href={formatCheckoutHash()} onClick={() => onOrder(kite)}>
          Order<span className="visually-hidden"> {name}</span>
        </a>
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
