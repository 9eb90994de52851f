import type { Span } from './storm.ts';

/** The moments that both charts of a side share. */
export function TimeAxis({ span: { fromS, outageS, recoveryS, toS } }: { readonly span: Span }) {
  const marks = [
    { atS: outageS, label: 'down' },
    { atS: recoveryS, label: 'back' },
    { atS: toS, label: `${toS - recoveryS} s later` },
  ];
  return (
    <p className="time-axis" aria-hidden="true">
      {marks.map(({ atS, label }) => (
        <span key={label} style={{ left: `${(100 * (atS - fromS)) / (toS - fromS)}%` }}>
          {label}
        </span>
      ))}
    </p>
  );
}
