import { type ReactNode, useId, useMemo } from 'react';
import { type Plot, xAt } from './geometry.ts';
import type { Span } from './storm.ts';
import { useSize } from './use-size.ts';

interface Props {
  readonly title: string;
  /** What the whole picture shows, in words. */
  readonly description: string;
  readonly className: string;
  readonly span: Span;
  readonly max: number;
  readonly atS: number;
  /** Uncovered as time passes. */
  readonly shapes: (plot: Plot) => ReactNode;
  /** There from the start. */
  readonly frame?: (plot: Plot) => ReactNode;
}

/**
 * One chart of a storm, as plain SVG: a few shapes, and a curtain that time draws aside. A chart
 * library draws on a canvas, all of it again at each frame, and its canvas knows neither the page's
 * colours nor forced ones; the smallest would be as large as this whole page.
 */
export function Chart({ title, description, className, span, max, atS, shapes, frame }: Props) {
  const [ref, { width, height }] = useSize<HTMLDivElement>();
  const curtain = useId();
  const plot = useMemo<Plot>(() => ({ width, height, span, max }), [width, height, span, max]);
  // Drawn anew when the data change, and not at each frame.
  const drawn = useMemo(() => shapes(plot), [shapes, plot]);
  const framed = useMemo(() => frame?.(plot), [frame, plot]);
  const headX = xAt(plot, atS);
  const outageX = xAt(plot, span.outageS);
  return (
    <figure className={`chart ${className}`}>
      <figcaption>{title}</figcaption>
      <div className="chart-plot" ref={ref} role="img" aria-label={description}>
        {width > 0 && (
          <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
            <clipPath id={curtain}>
              <rect x="0" y="-20" width={headX} height={height + 40} />
            </clipPath>
            <rect
              className="chart-outage"
              x={outageX}
              width={xAt(plot, span.recoveryS) - outageX}
              height={height}
            />
            <g clipPath={`url(#${curtain})`}>{drawn}</g>
            {framed}
            <path className="chart-ground" d={`M0 ${height}H${width}`} />
            {atS < span.toS && <path className="chart-head" d={`M${headX} 0V${height}`} />}
          </svg>
        )}
      </div>
    </figure>
  );
}
