import { useSyncExternalStore } from 'react';
import type { MockApi } from './api/mock-api.ts';
import { FlightRecorder } from './recorder/flight-recorder.tsx';
import type { Recorder } from './recorder/recorder.ts';
import { PolicyNote } from './scenarios/policy-note.tsx';
import { ScenarioSwitch } from './scenarios/scenario-switch.tsx';
import { VisitControls } from './scenarios/visit-controls.tsx';
import { Catalogue } from './shop/catalogue.tsx';
import { Wordmark } from './shop/wordmark.tsx';
import { Announcer } from './status/announcer.tsx';
import type { Visits } from './visits/visits.ts';

interface Props {
  readonly api: MockApi;
  readonly visits: Visits;
  readonly recorder: Recorder;
}

export function App({ api, visits, recorder }: Props) {
  const visit = useSyncExternalStore(visits.subscribe, visits.getState);
  const { scenario, startsLoaded } = visit;
  return (
    <div className="page">
      <header className="head">
        <Wordmark />
        <p className="head-note">
          A demonstration of <b>Steadfetch</b>: the API of this shop fails on purpose.
        </p>
      </header>
      <aside className="desk" aria-label="Scenario">
        <ScenarioSwitch
          scenario={scenario}
          onChoose={(next) => visits.go({ scenario: next, startsLoaded })}
        />
        <p className="explanation">{scenario.explanation}</p>
        <VisitControls visit={visit} onGo={visits.go} />
        <FlightRecorder recorder={recorder} api={api} />
      </aside>
      <main className="shop">
        <h1>Kites that hold in any wind.</h1>
        <Catalogue key={visit.number} visit={visit} onReload={visits.reload} />
      </main>
      <PolicyNote scenario={scenario} />
      <Announcer queryKey={visit.query.queryKey} />
    </div>
  );
}
