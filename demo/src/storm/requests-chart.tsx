import { useCallback, useMemo } from 'react';
import { Chart } from './chart.tsx';
import { formatCount } from './format.ts';
import { type Plot, stepArea, xAt, yAt } from './geometry.ts';
import { capacityPerS, type Run, type Scenario, type Span } from './storm.ts';

interface Props {
  readonly run: Run;
  readonly scenario: Scenario;
  readonly span: Span;
  readonly max: number;
  readonly atS: number;
}

/** The requests of each second, and what the server can answer in one. */
export function RequestsChart({ run: { seconds }, scenario, span, max, atS }: Props) {
  const capacity = capacityPerS(scenario);
  const sent = useMemo(() => seconds.map((second) => second.sent), [seconds]);

  const inOutage = sent.slice(span.outageS, span.recoveryS);
  const peak = Math.max(0, ...inOutage);
  const peakS = span.outageS + inOutage.indexOf(peak);

  const shapes = useCallback(
    (plot: Plot) => (
      <>
        <path className="chart-load" d={stepArea(sent, plot)} />
        <path
          className="chart-over"
          d={stepArea(
            sent.map((count) => Math.max(0, count - capacity)),
            { ...plot, height: yAt(plot, capacity), max: plot.max - capacity },
          )}
        />
        {peak > capacity && (
          <text x={xAt(plot, peakS + 0.5)} y={yAt(plot, peak) - 5} textAnchor="middle">
            {formatCount(peak)}
          </text>
        )}
      </>
    ),
    [sent, capacity, peak, peakS],
  );
  const frame = useCallback(
    (plot: Plot) => {
      const y = yAt(plot, capacity);
      return (
        <>
          <path className="chart-capacity" d={`M0 ${y}H${plot.width}`} />
          <text className="chart-note" x={plot.width} y={y - 5} textAnchor="end">
            {`the server can take ${formatCount(capacity)}`}
          </text>
        </>
      );
    },
    [capacity],
  );
  return (
    <Chart
      className="chart-requests"
      title="Requests per second"
      description={
        `Requests per second: up to ${formatCount(peak)} while the server is down, ` +
        `up to ${formatCount(Math.max(0, ...sent.slice(span.recoveryS, span.toS)))} afterwards. ` +
        `When it is well, it can take ${formatCount(capacity)}.`
      }
      span={span}
      max={max}
      atS={atS}
      shapes={shapes}
      frame={frame}
    />
  );
}
