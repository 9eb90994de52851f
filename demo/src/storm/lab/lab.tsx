import { type FormEvent, useState } from 'react';
import { links } from '../../links.ts';
import { describeConditions, describeMoment, describePrice } from '../describe.ts';
import { firstStorm } from '../first-storm.ts';
import { formatCount } from '../format.ts';
import { reachedS, spanOf } from '../storm.ts';
import { Twins } from '../twins.tsx';
import { useStorm } from '../use-storm.ts';
import { FiguresTable } from './figures-table.tsx';
import { LabForm } from './lab-form.tsx';
import { OneUser } from './one-user.tsx';
import {
  estimateMs,
  firstSettings,
  toScenario,
  toUserScenario,
  usualMsPerCost,
} from './settings.ts';
import { useUsers } from './use-users.ts';

/** A run that takes longer than this is warned of. */
const longMs = 10_000;

/** A storm of the visitor's own. */
export function Lab() {
  const [settings, setSettings] = useState(firstSettings);
  const [hasRun, setHasRun] = useState(false);
  const { storm, isRunning, problem, run, cancel } = useStorm(firstStorm);
  const { users, run: runUsers, cancel: cancelUsers } = useUsers();
  const span = spanOf(storm.scenario);
  const reached = reachedS(storm);
  const isDone = storm.runs.every(({ figures }) => figures);
  const expectedMs = estimateMs(settings, usualMsPerCost);

  const start = (event: FormEvent): void => {
    event.preventDefault();
    setHasRun(true);
    run(settings.rival, toScenario(settings));
    runUsers(settings.rival, toUserScenario(settings));
  };
  return (
    <section className="lab" aria-labelledby="lab-title">
      <h2 id="lab-title">Make your own storm</h2>
      <p className="lab-lead">
        The same simulation, with your numbers, in this browser: the real code of each library, on a
        clock that runs as fast as your computer can.
      </p>
      <form onSubmit={start}>
        <LabForm settings={settings} onChange={setSettings} />
        <div className="lab-actions">
          <button type="submit" className="button" data-primary>
            Run this storm
          </button>
          {isRunning ? (
            <>
              <progress aria-label="The run" max={span.toS} value={reached} />
              <button
                type="button"
                className="button"
                onClick={() => {
                  cancel();
                  cancelUsers();
                }}
              >
                Cancel
              </button>
            </>
          ) : (
            expectedMs > 0 && (
              <p className={expectedMs > longMs ? 'lab-warning' : 'lab-estimate'}>
                {expectedMs > longMs && 'This is a large one: it takes '}
                about {formatCount(Math.max(1, expectedMs / 1000))} s
              </p>
            )
          )}
        </div>
      </form>
      <p className="lab-told" role="status">
        {problem ?? (hasRun && isDone && describeMoment(storm, span.toS))}
      </p>
      {hasRun && (
        <>
          <Twins storm={storm} atS={Math.max(span.fromS, Math.min(reached, span.toS))} level={3} />
          <p className="storm-note">
            {isDone && <b>{describePrice(storm)} </b>}
            {describeConditions(storm)}
          </p>
        </>
      )}
      <FiguresTable storm={storm} />
      {hasRun && storm.scenario.kind === 'half-endpoints' && (
        <p className="lab-lead lab-no-user">
          There is no picture of one user here: it has one server, which is down as a whole. What
          half of a server does to a page is measured in{' '}
          <a href={links.partialFailure}>Partial failure</a>.
        </p>
      )}
      {users && (
        <>
          <h3>One user of this outage</h3>
          <p className="lab-lead">
            A page is opened as the server goes down, and asks for six things at once. Nobody else
            is there. React Query shows them, and each side has its own retries.
          </p>
          <OneUser outageS={users.scenario.outageS} seen={users.seen} />
        </>
      )}
    </section>
  );
}
