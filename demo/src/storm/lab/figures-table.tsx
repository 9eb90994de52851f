import { names } from '../../../../sim/report/names.ts';
import { formatCount, formatNumber, formatShare } from '../format.ts';
import { countsAt, type Counts, type Run, spanOf, type Storm } from '../storm.ts';

type Figures = NonNullable<Run['figures']>;

const after = (seconds: number | null): string =>
  seconds === null ? 'not in the time shown' : `${seconds} s`;

const rows: readonly (readonly [title: string, show: (figures: Figures, end: Counts) => string])[] =
  [
    ['Requests while the server was down', ({ outageRequests }) => formatCount(outageRequests)],
    ['The same, for each thing that was asked for', ({ outageRatio }) => formatNumber(outageRatio)],
    ['Requests in the whole run', ({ requests }) => formatCount(requests)],
    ['Asked for while it was down', (_, { asked }) => formatCount(asked)],
    ['Answered of that', (_, { answered, asked }) => formatShare(answered, asked)],
    ['Ended in an error', (_, { failed, asked }) => formatShare(failed, asked)],
    ['Left before an answer', (_, { left, asked }) => formatShare(left, asked)],
    [
      'After the outage, 99% of what is asked for is answered at all, from',
      ({ endWellFromS }) => after(endWellFromS),
    ],
    ['Within a second, from', ({ promptFromS }) => after(promptFromS)],
    [
      'Most requests in a second after the outage, against the usual',
      ({ peak1S }) => `${formatNumber(peak1S)} times`,
    ],
    [
      'Errors of what is asked for after the outage',
      ({ failedAfterRecovery }) => `${formatNumber(100 * failedAfterRecovery)}%`,
    ],
    ['The slowest of 100 answers takes', ({ p99Ms }) => `${formatNumber(p99Ms / 1000)} s`],
  ];

/** How far apart the moments of the second table are. */
const stepS = 10;

/** All that a storm shows, for who cannot see its picture. */
export function FiguresTable({ storm }: { readonly storm: Storm }) {
  const { runs, scenario } = storm;
  const span = spanOf(scenario);
  const sides = runs.flatMap((run) =>
    run.figures ? [{ run, figures: run.figures, end: countsAt(run, span, span.toS) }] : [],
  );
  if (sides.length < runs.length) return null;
  const moments = Array.from(
    { length: Math.floor((span.toS - span.outageS) / stepS) },
    (_, index) => span.outageS + (index + 1) * stepS,
  );
  return (
    // With the keyboard, too, it can be scrolled.
    <div className="lab-tables" tabIndex={0} role="group" aria-label="Figures">
      <table>
        <caption>The figures of this storm</caption>
        <thead>
          <tr>
            <td />
            {runs.map(({ policy }) => (
              <th key={policy} scope="col">
                {names[policy][0]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([title, show]) => (
            <tr key={title}>
              <th scope="row">{title}</th>
              {sides.map(({ run, figures, end }) => (
                <td key={run.policy}>{show(figures, end)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <details>
        <summary>Moment by moment</summary>
        <table>
          <caption>Requests in a second, and who waits for an answer</caption>
          <thead>
            <tr>
              <th scope="col">Since the start of the outage</th>
              {runs.flatMap(({ policy }) => [
                <th key={`${policy} requests`} scope="col">
                  {names[policy][0]}: requests
                </th>,
                <th key={`${policy} waiting`} scope="col">
                  {names[policy][0]}: waiting
                </th>,
              ])}
            </tr>
          </thead>
          <tbody>
            {moments.map((atS) => (
              <tr key={atS}>
                <th scope="row">{atS - span.outageS} s</th>
                {runs.flatMap((run) => [
                  <td key={`${run.policy} requests`}>
                    {formatCount(run.seconds[atS - 1]?.sent ?? 0)}
                  </td>,
                  <td key={`${run.policy} waiting`}>
                    {formatCount(countsAt(run, span, atS).waiting)}
                  </td>,
                ])}
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </div>
  );
}
