import type { WaitMark } from './recording.ts';
import type { Scale } from './scale.ts';
import { spanStyle } from './span-style.ts';

interface Props {
  readonly wait: WaitMark;
  readonly scale: Scale;
  readonly now: number;
}

/** A wait: hatched as long as it is planned, darker as far as it has gone. */
export function WaitBar({ wait, scale, now }: Props) {
  const { from, plannedTo, to, retryAfterAt } = wait;
  return (
    <>
      <span className="wait" data-planned style={spanStyle(scale, from, plannedTo)} />
      <span className="wait" style={spanStyle(scale, from, Math.min(to ?? now, plannedTo))} />
      {retryAfterAt !== undefined && (
        <span className="retry-after" style={spanStyle(scale, from, retryAfterAt)}>
          <span>Retry-After {Math.round((retryAfterAt - from) / 1000)} s</span>
        </span>
      )}
    </>
  );
}
