import { useCallback, useMemo } from 'react';
import { Chart } from './chart.tsx';
import { formatCount, formatShare } from './format.ts';
import { band, namePlace, type Plot } from './geometry.ts';
import { countsAt, type Run, type Span } from './storm.ts';

interface Props {
  readonly run: Run;
  readonly span: Span;
  readonly max: number;
  readonly atS: number;
}

/** What becomes of all that is asked for in the outage: answered, an error, or still waiting. */
export function AnswersChart({ run, span, max, atS }: Props) {
  const { seconds } = run;
  const layers = useMemo(() => {
    const ground = seconds.map(() => 0);
    const answered = seconds.map((second) => second.answered);
    const waited = seconds.map(({ asked, failed, left }) => asked - failed - left);
    const stayed = seconds.map(({ asked, left }) => asked - left);
    const asked = seconds.map((second) => second.asked);
    return [
      { name: 'answered', lower: ground, upper: answered },
      { name: 'waiting', lower: answered, upper: waited },
      { name: 'error', lower: waited, upper: stayed },
      { name: 'left', lower: stayed, upper: asked },
    ] as const;
  }, [seconds]);

  const shapes = useCallback(
    (plot: Plot) =>
      layers.map(({ name, lower, upper }) => {
        const place = namePlace(lower, upper, plot);
        return (
          <g key={name} className={`chart-${name}`}>
            <path d={band(lower, upper, plot)} />
            {name === 'error' && <path d={band(lower, upper, plot)} fill="url(#storm-hatch)" />}
            {place && (
              <text x={place.x} y={place.y} dy="0.35em" textAnchor="middle">
                {name}
              </text>
            )}
          </g>
        );
      }),
    [layers],
  );
  const end = countsAt(run, span, span.toS);
  return (
    <Chart
      className="chart-answers"
      title="What people ask for while the server is down"
      description={
        `What was asked for while the server was down: ${formatCount(end.asked)} times. ` +
        `${formatShare(end.answered, end.asked)} answered, ${formatShare(end.failed, end.asked)} ended in an error.`
      }
      span={span}
      max={max}
      atS={atS}
      shapes={shapes}
    />
  );
}
