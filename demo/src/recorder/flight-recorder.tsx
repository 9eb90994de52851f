import { useSyncExternalStore } from 'react';
import { describeDecision, requestsOf } from './describe-recording.ts';
import { Legend } from './legend.tsx';
import { Picture } from './picture.tsx';
import type { Recorder } from './recorder.ts';
import './recorder.css';

interface Props {
  readonly recorder: Recorder;
  /** How many requests the API has got, where it counts those of this recording. */
  readonly arrived?: number;
  /** Whose requests they are, where there are others. */
  readonly of?: string;
}

/** What goes over the wire and what is waited for, while it happens. */
export function FlightRecorder({ recorder, arrived, of }: Props) {
  const recording = useSyncExternalStore(recorder.subscribe, recorder.getState);
  const count = requestsOf(recording).length;
  return (
    <section className="recorder" aria-labelledby="recorder-title">
      <div className="recorder-head">
        <h2 id="recorder-title">Flight recorder</h2>
        <p className="recorder-count" data-arrived={arrived}>
          {of && `${of}: `}
          {count} {count === 1 ? 'request' : 'requests'}
        </p>
      </div>
      <Picture recording={recording} />
      <Legend />
      <p className="recorder-decision">{describeDecision(recording)}</p>
    </section>
  );
}
