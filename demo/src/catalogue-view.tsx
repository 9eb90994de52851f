import { useSyncExternalStore } from 'react';
import type { MockApi } from './api/mock-api.ts';
import { withKite } from './orders/round.ts';
import { FlightRecorder } from './recorder/flight-recorder.tsx';
import type { Recorder } from './recorder/recorder.ts';
import { PolicyNote } from './scenarios/policy-note.tsx';
import { ScenarioSwitch } from './scenarios/scenario-switch.tsx';
import { scenarios } from './scenarios/scenarios.ts';
import { VisitControls } from './scenarios/visit-controls.tsx';
import { Catalogue } from './shop/catalogue.tsx';
import { Announcer } from './status/announcer.tsx';
import type { Visit } from './visits/visit.ts';
import type { Visits } from './visits/visits.ts';

interface Props {
  readonly api: MockApi;
  readonly visits: Visits;
  readonly visit: Visit;
  readonly recorder: Recorder;
}

/** The kites, read from an API that fails. */
export function CatalogueView({ api, visits, visit, recorder }: Props) {
  const arrived = useSyncExternalStore(api.subscribe, api.getRequestCount);
  const { scenario, startsLoaded } = visit;
  return (
    <>
      <aside className="desk" aria-label="Scenario">
        <ScenarioSwitch
          options={scenarios}
          chosen={scenario}
          onChoose={(next) => visits.go({ scenario: next, startsLoaded })}
        />
        <p className="explanation">{scenario.explanation}</p>
        <VisitControls visit={visit} onGo={visits.go} />
        <FlightRecorder recorder={recorder} arrived={arrived} />
      </aside>
      <main className="shop">
        <h1>Kites that hold in any wind.</h1>
        <Catalogue
          key={visit.number}
          visit={visit}
          onReload={visits.reload}
          onOrder={({ id }) => api.checkout.round.update((round) => withKite(round, id))}
        />
      </main>
      <PolicyNote scenario={scenario} />
      <Announcer queryKey={visit.query.queryKey} />
    </>
  );
}
