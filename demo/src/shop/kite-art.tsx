import type { Kite } from './kites.ts';
import { type KiteShape, kiteShapes } from './kite-shapes.ts';

/** Where the wind of the whole shop comes from: every kite leans the same way, on the same line. */
const lean = 'rotate(16 100 100) translate(4 -4)';

/** A kite in its sky. Its name is beside it, so it is only to be looked at. */
export function KiteArt({ kite }: { readonly kite: Kite }) {
  const shape = kiteShapes[kite.shape];
  return (
    <svg className="kite-art" viewBox="0 0 200 200" aria-hidden="true">
      <g transform={lean}>
        <Line shape={shape} />
        {shape.panels.map(([corners, colour]) => (
          <polygon key={corners} points={corners} fill={kite.colours[colour]} />
        ))}
        <path className="kite-spars" d={shape.spars} />
      </g>
    </svg>
  );
}

/** Its outline only, where a kite would be. */
export function KiteOutline({ shape }: { readonly shape: Kite['shape'] }) {
  const { panels } = kiteShapes[shape];
  return (
    <svg className="kite-outline" viewBox="0 0 200 200" aria-hidden="true">
      <g transform={lean}>
        {panels.map(([corners]) => (
          <polygon key={corners} points={corners} />
        ))}
      </g>
    </svg>
  );
}

function Line({ shape: { tow, tails } }: { readonly shape: KiteShape }) {
  const [x, y] = tow;
  return (
    <>
      <path className="kite-line" d={`M${x} ${y}Q${x - 10} ${y + 90} ${x - 30} 300`} />
      {tails.map(([fromX, fromY]) => (
        <path
          key={fromX}
          className="kite-tail"
          d={`M${fromX} ${fromY}q14 10 8 22t8 22t6 20t8 22`}
        />
      ))}
    </>
  );
}
