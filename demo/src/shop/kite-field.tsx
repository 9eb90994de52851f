import { useId } from 'react';
import { kites } from '../api/kites.ts';
import { KiteArt } from './kite-art.tsx';
import { kiteOf } from './kite-of.ts';
import './fields.css';

interface Props {
  /** Its id. */
  readonly kite: string;
  /** The row is its own. */
  readonly isWide?: boolean;
  readonly onChange: (kite: string) => void;
}

/** The first of the fields of a form: a kite, and its picture. */
export function KiteField({ kite: chosen, isWide = false, onChange }: Props) {
  const id = useId();
  const kite = kiteOf({ kite: chosen });
  return (
    <>
      <div
        className="kite-sky fields-kite"
        style={{ '--kite-sky': kite.sky } as React.CSSProperties}
      >
        <KiteArt kite={kite} />
      </div>
      <div className="field" data-field={isWide ? 'wide' : 'kite'}>
        <label htmlFor={id}>Kite</label>
        <select id={id} value={kite.id} onChange={({ target }) => onChange(target.value)}>
          {kites.map(({ id: value, name }) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </div>
    </>
  );
}
