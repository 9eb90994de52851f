import { names } from '../../../sim/report/names.ts';
import { AnswersChart } from './answers-chart.tsx';
import { Counters } from './counters.tsx';
import { ceilNicely } from './geometry.ts';
import { RequestsChart } from './requests-chart.tsx';
import { capacityPerS, countsAt, neededPerS, spanOf, type Storm } from './storm.ts';
import { TimeAxis } from './time-axis.tsx';

interface Props {
  readonly storm: Storm;
  readonly atS: number;
  /** Of the headings. @default 2 */
  readonly level?: 2 | 3;
}

/** A rival and Steadfetch in the same storm, on the same scales. */
export function Twins({ storm: { scenario, runs }, atS, level = 2 }: Props) {
  const Heading = `h${level}` as const;
  const span = spanOf(scenario);
  const all = runs.flatMap(({ seconds }) => seconds);
  // Known before a run begins, so that the scales stay as they are while it goes on.
  const expected = neededPerS(scenario) * scenario.outageS;
  const maxRequests = ceilNicely(
    Math.max(capacityPerS(scenario) * 1.25, ...all.map(({ sent }) => sent * 1.12)),
  );
  const maxAsked = Math.max(expected * 1.04, ...all.map(({ asked }) => asked));
  return (
    <div className="twins">
      {runs.map((run) => {
        const [name, about] = names[run.policy];
        return (
          <section
            key={run.policy}
            className="twin"
            aria-label={level === 2 ? name : `${name} in your storm`}
          >
            <Heading className="twin-title">
              {name} <span>{run.policy === 'steadfetch' ? 'around React Query' : about}</span>
            </Heading>
            <Counters counts={countsAt(run, span, atS)} />
            <RequestsChart run={run} scenario={scenario} span={span} max={maxRequests} atS={atS} />
            <AnswersChart run={run} span={span} max={maxAsked} atS={atS} />
            <TimeAxis span={span} />
          </section>
        );
      })}
    </div>
  );
}
