import { useEffect, useSyncExternalStore } from 'react';
import { useMutationStatus } from 'steadfetch/react';
import type { Checkout } from '../orders/checkout.ts';
import { type Trouble, troubles } from '../orders/troubles.ts';
import { FlightRecorder } from '../recorder/flight-recorder.tsx';
import type { Recorder } from '../recorder/recorder.ts';
import { ScenarioSwitch } from '../scenarios/scenario-switch.tsx';
import { ReloadControls } from '../scenarios/reload-controls.tsx';
import { FormsNote } from './forms-note.tsx';
import { formatCheckoutHash } from './hash.ts';
import { Ledger } from './ledger.tsx';
import { NaiveForm } from './naive-form.tsx';
import { SteadyForm } from './steady-form.tsx';
import './slip.css';

interface Props {
  readonly checkout: Checkout;
  readonly trouble: Trouble;
  readonly recorder: Recorder;
}

/** One order by two forms, each with the ledger of its shop. */
export function CheckoutView({ checkout, trouble, recorder }: Props) {
  const { desks, round, play, startOver } = checkout;
  const { number } = useSyncExternalStore(round.subscribe, round.getState);
  useEffect(() => play(trouble), [play, trouble]);
  useEffect(() => recorder.followMutations(), [recorder]);
  const { cancel } = useMutationStatus({ mutationKey: ['order', number] });
  return (
    <>
      <aside className="desk" aria-label="Scenario">
        <ScenarioSwitch
          options={troubles}
          chosen={trouble}
          onChoose={({ id }) => {
            location.hash = formatCheckoutHash(id);
          }}
        />
        <p className="explanation">{trouble.explanation}</p>
        <ReloadControls
          onStartOver={() => {
            cancel();
            startOver();
            recorder.followMutations();
          }}
        />
        <FlightRecorder recorder={recorder} of="Steadfetch" />
      </aside>
      <main className="shop">
        <h1>Press twice, get one kite.</h1>
        <div className="slips" key={number}>
          <section className="slip" aria-labelledby="naive-title">
            <h2 id="naive-title">Naive</h2>
            <p className="slip-how">Three retries, each with a new key</p>
            <NaiveForm round={round} />
            <Ledger desk={desks.naive} of="naive form" />
          </section>
          <section className="slip" aria-labelledby="steadfetch-title">
            <h2 id="steadfetch-title">Steadfetch</h2>
            <p className="slip-how">One key for the order</p>
            <SteadyForm round={round} />
            <Ledger desk={desks.steadfetch} of="Steadfetch form" />
          </section>
        </div>
      </main>
      <FormsNote />
    </>
  );
}
