import { describeOutcome } from './describe-recording.ts';
import { PauseBar } from './pause-bar.tsx';
import { markOf } from './lane-mark.ts';
import type { Lane } from './recording.ts';
import type { Scale } from './scale.ts';
import { spanStyle } from './span-style.ts';
import { WaitBar } from './wait-bar.tsx';

interface Props {
  readonly lane: Lane;
  readonly scale: Scale;
  readonly now: number;
}

/** One attempt: its requests as bars, coloured by outcome, and the wait that followed. */
export function LaneRow({ lane, scale, now }: Props) {
  const { attempt, pausedFor, requests, wait } = lane;
  const mark = markOf(lane);
  const last = requests.at(-1);
  return (
    <div className="lane" data-outcome={last?.outcome?.kind}>
      <span className="lane-head">
        <span className="lane-number">{attempt ?? '–'}</span>
        <span className="lane-status">{pausedFor ? 'paused' : describeOutcome(last?.outcome)}</span>
      </span>
      <span className="track">
        {pausedFor && <PauseBar lane={lane} pausedFor={pausedFor} scale={scale} now={now} />}
        {requests.map(({ id, from, to, outcome: ended }) => (
          <span
            key={id}
            className="request"
            data-outcome={ended?.kind}
            style={spanStyle(scale, from, to ?? now)}
          />
        ))}
        {wait && <WaitBar wait={wait} scale={scale} now={now} />}
        {mark && (
          <span className="mark" style={spanStyle(scale, mark.at)}>
            {mark.text}
          </span>
        )}
      </span>
    </div>
  );
}
