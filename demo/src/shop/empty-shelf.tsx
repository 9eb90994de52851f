import { kiteShapes } from './kite-shapes.ts';
import { KiteOutline } from './kite-art.tsx';
import type { Kite } from '../api/kites.ts';

const shapes = Object.keys(kiteShapes) as Kite['shape'][];

/** As many empty places as there are products, of the same size, so that nothing jumps. */
export function EmptyShelf() {
  return (
    <ul className="shelf" aria-hidden="true">
      {shapes.map((shape) => (
        <li key={shape} className="kite" data-empty>
          <div className="kite-sky">
            <KiteOutline shape={shape} />
          </div>
          <p className="kite-name">&nbsp;</p>
          <p className="kite-price">&nbsp;</p>
          <p className="kite-kind">&nbsp;</p>
          <p className="wind">&nbsp;</p>
        </li>
      ))}
    </ul>
  );
}
