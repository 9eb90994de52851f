import type { AnyPauseReason } from 'steadfetch/react';
import { pauseNames } from './describe-reason.ts';
import { formatSeconds } from './describe-recording.ts';
import type { Lane } from './recording.ts';
import type { Scale } from './scale.ts';
import { spanStyle } from './span-style.ts';

interface Props {
  readonly lane: Lane;
  readonly pausedFor: AnyPauseReason;
  readonly scale: Scale;
  readonly now: number;
}

/** A pause: filled as far as it has gone, and open up to when its origin is tried next. */
export function PauseBar({ lane: { from, to, retryAt }, pausedFor, scale, now }: Props) {
  const end = to ?? now;
  const planned = to === undefined ? retryAt : undefined;
  return (
    <>
      <span className="pause" style={spanStyle(scale, from, end)} />
      {planned !== undefined && (
        <span className="pause" data-planned style={spanStyle(scale, from, planned)} />
      )}
      <span className="mark" style={spanStyle(scale, Math.max(end, planned ?? end))}>
        {planned === undefined ? pauseNames[pausedFor] : formatSeconds(planned - from)}
      </span>
    </>
  );
}
