import { describePicture } from './describe-recording.ts';
import { LaneRow } from './lane-row.tsx';
import { isOver, type Recording } from './recording.ts';
import { laneCount, type Scale, scaleFor } from './scale.ts';
import { scaleStyle, spanStyle } from './span-style.ts';
import { useNow } from './use-now.ts';
import './picture.css';
import './bars.css';

/** Attempts as lanes over a time axis, with the present moving along it. */
export function Picture({ recording }: { readonly recording: Recording }) {
  const { lanes, endedAt } = recording;
  const isRunning = lanes.length > 0 && !isOver(recording);
  const present = useNow(isRunning);
  // The last frame may be older than the last event.
  const now = isRunning ? Math.max(present, lanes.at(-1)?.from ?? 0) : (endedAt ?? present);
  const scale = scaleFor(lanes, now);
  return (
    <div
      className="picture"
      role="img"
      aria-label={describePicture(recording)}
      style={scaleStyle(scale)}
    >
      <Axis scale={scale} start={lanes[0]?.from ?? now} />
      <div className="lanes">
        {lanes.slice(-laneCount).map((lane) => (
          <LaneRow key={lane.key} lane={lane} scale={scale} now={now} />
        ))}
      </div>
      {isRunning && (
        <div className="overlay">
          <span className="now" style={spanStyle(scale, now)} />
        </div>
      )}
    </div>
  );
}

function Axis({ scale, start }: { readonly scale: Scale; readonly start: number }) {
  return (
    <div className="overlay">
      {scale.ticks.map((tick) => (
        <span key={tick} className="tick" style={spanStyle(scale, start + tick * 1000)}>
          <span className="tick-label">{tick} s</span>
        </span>
      ))}
    </div>
  );
}
