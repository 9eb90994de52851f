import { useEffect, useSyncExternalStore } from 'react';
import { useOutbox } from 'steadfetch/react';
import { FlightRecorder } from '../recorder/flight-recorder.tsx';
import type { Recorder } from '../recorder/recorder.ts';
import type { ReportDesk } from '../reports/report-desk.ts';
import type { ReportPost } from '../reports/report-post.ts';
import { type ReportTrouble, reportTroubles } from '../reports/report-troubles.ts';
import { ReloadControls } from '../scenarios/reload-controls.tsx';
import { ScenarioSwitch } from '../scenarios/scenario-switch.tsx';
import { formatOutboxHash } from './hash.ts';
import { OutboxList } from './outbox-list.tsx';
import { OutboxNote } from './outbox-note.tsx';
import { ReceivedLedger } from './received-ledger.tsx';
import { ReportForm } from './report-form.tsx';
import './outbox.css';

interface Props {
  readonly desk: ReportDesk;
  readonly post: ReportPost;
  readonly trouble: ReportTrouble;
  readonly recorder: Recorder;
}

/** What is written now and may arrive later: the form, what the device keeps, and what the shop has. */
export function OutboxView({ desk, post, trouble, recorder }: Props) {
  const { round } = useSyncExternalStore(desk.books.subscribe, desk.books.getState);
  const { clear } = useOutbox();
  useEffect(() => recorder.followMutations(), [recorder]);
  const startOver = async (): Promise<void> => {
    await clear();
    desk.startOver();
    post.delivered.update(() => []);
    recorder.followMutations();
  };
  return (
    <>
      <aside className="desk" aria-label="Scenario">
        <ScenarioSwitch
          options={reportTroubles}
          chosen={trouble}
          onChoose={({ id }) => {
            location.hash = formatOutboxHash(id);
          }}
        />
        <p className="explanation">{trouble.explanation}</p>
        <ReloadControls onStartOver={() => void startOver()} />
        <FlightRecorder recorder={recorder} />
      </aside>
      <main className="shop">
        <h1>Close the page. It arrives.</h1>
        <div className="post" key={round}>
          <ReportForm post={post} />
          <OutboxList post={post} />
          <ReceivedLedger books={desk.books} />
        </div>
      </main>
      <OutboxNote />
    </>
  );
}
