import { useBackground } from '../background.ts';
import { Proof } from '../proof.tsx';
import { CopyLine } from './copy-line.tsx';
import { describeConditions, describeMoment, describePrice } from './describe.ts';
import { firstStorm } from './first-storm.ts';
import { Player } from './player.tsx';
import { Lab } from './lab/lab.tsx';
import { reachedS, spanOf } from './storm.ts';
import { Twins } from './twins.tsx';
import { usePlayhead } from './use-playhead.ts';
import { useStorm } from './use-storm.ts';
import './storm.css';
import './chart.css';
import './lab/lab.css';

/** The demo's home: what an outage is with React Query's defaults, and what it is with Steadfetch. */
export default function StormView() {
  const { storm, isRunning, problem, run } = useStorm(firstStorm);
  const span = spanOf(storm.scenario);
  const reached = reachedS(storm);
  const playhead = usePlayhead(span, reached);
  const isLabShown = useBackground();
  const { seed } = storm.scenario;
  return (
    <div className="storm-page">
      <main className="storm">
        <h1>Your API is down. A thousand tabs ask again. Watch.</h1>
        <p className="storm-caption">{problem ?? describeMoment(storm, playhead.atS)}</p>
        <Twins storm={storm} atS={playhead.atS} />
        <div className="storm-controls">
          <button
            type="button"
            className="button"
            data-primary
            onClick={() => {
              run('react-query', { ...storm.scenario, seed: seed + 1 });
              playhead.replay();
            }}
          >
            Cause an outage
          </button>
          <Player playhead={playhead} span={span} reachedS={reached} />
          <p className="storm-seed">
            {isRunning ? `Running, ${Math.round((100 * reached) / span.toS)}%` : `Seed ${seed}`}
          </p>
          <CopyLine />
        </div>
        <p className="storm-note">
          {playhead.atS >= span.toS && <b>{describePrice(storm)} </b>}
          {describeConditions(storm)}
        </p>
        <p className="for-real">
          <b>Do it for real:</b> open three tabs, take their server down, and see one of them ask
          for all. <a href="#/tabs">Three tabs that share a probe</a>
        </p>
        <Proof />
        {isLabShown && <Lab />}
      </main>
      <svg className="visually-hidden" aria-hidden="true">
        <pattern id="storm-hatch" width="6" height="6" patternUnits="userSpaceOnUse">
          <path className="chart-hatch" d="M-1 7 7 -1M-1 1 1 -1M5 7 7 5" />
        </pattern>
      </svg>
    </div>
  );
}
