import type { HeldReason } from 'steadfetch/react';
import { holdNames } from './describe-reason.ts';
import { formatSeconds } from './describe-recording.ts';
import type { Lane } from './recording.ts';
import type { Scale } from './scale.ts';
import { spanStyle } from './span-style.ts';

interface Props {
  readonly lane: Lane;
  readonly heldFor: HeldReason;
  readonly scale: Scale;
  readonly now: number;
}

/** A hold: filled as far as it has gone, and open up to when its origin is tried next. */
export function HoldBar({ lane: { from, to, retryAt }, heldFor, scale, now }: Props) {
  const end = to ?? now;
  const planned = to === undefined ? retryAt : undefined;
  return (
    <>
      <span className="hold" style={spanStyle(scale, from, end)} />
      {planned !== undefined && (
        <span className="hold" data-planned style={spanStyle(scale, from, planned)} />
      )}
      <span className="mark" style={spanStyle(scale, Math.max(end, planned ?? end))}>
        {planned === undefined ? holdNames[heldFor] : formatSeconds(planned - from)}
      </span>
    </>
  );
}
