import type { CSSProperties } from 'react';
import { KiteArt, KiteOutline } from './kite-art.tsx';
import { type Kite, kites } from './kites.ts';
import './shelf.css';

export type { Kite };

/** A price, all of which are whole and small: a number format of the browser takes longer to make than the page. */
export const inEuros = (euros: number): string => `€${euros}`;

/** The kite of this id; the first of the shop where there is none. */
export function kiteOf(id: string): Kite {
  const kite = kites.find((one) => one.id === id) ?? kites[0];
  if (!kite) throw new Error('The shop has no kites.');
  return kite;
}

/** What the shop sells, or as many empty places: so that nothing jumps. */
export function Shelf({ kites: loaded }: { readonly kites: readonly Kite[] | undefined }) {
  if (!loaded) {
    return (
      <ul className="shelf" aria-hidden="true">
        {kites.map(({ id, shape }) => (
          <li key={id}>
            <span className="sky">
              <KiteOutline shape={shape} />
            </span>
            &nbsp;
          </li>
        ))}
      </ul>
    );
  }
  return (
    <ul className="shelf" aria-label="Kites">
      {loaded.map((kite) => (
        <li key={kite.id}>
          <span className="sky" style={{ '--sky': kite.sky } as CSSProperties}>
            <KiteArt kite={kite} />
          </span>
          <b>{kite.name}</b> {inEuros(kite.priceEur)}
        </li>
      ))}
    </ul>
  );
}

/** What most apps show when a query has failed. */
export function Failure({ onRetry }: { readonly onRetry: () => unknown }) {
  return (
    <div className="failure" role="alert">
      <p>Something went wrong.</p>
      <button type="button" className="button" onClick={() => void onRetry()}>
        Try again
      </button>
    </div>
  );
}
