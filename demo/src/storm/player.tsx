import type { Playhead } from './use-playhead.ts';
import type { Span } from './storm.ts';

interface Props {
  readonly playhead: Playhead;
  readonly span: Span;
  readonly reachedS: number;
}

/** The moment that is shown, to stop and to choose. */
export function Player({ playhead, span, reachedS }: Props) {
  const { atS, isPlaying, play, pause, replay, seek } = playhead;
  const isOver = atS >= span.toS;
  const [label, act] = isPlaying ? ['Pause', pause] : isOver ? ['Replay', replay] : ['Play', play];
  return (
    <>
      <button type="button" className="button" onClick={act}>
        {label}
      </button>
      <input
        type="range"
        className="moment"
        aria-label="Moment of the storm"
        aria-valuetext={describeTime(Math.round(atS), span)}
        min={span.fromS}
        max={span.toS}
        step={1}
        value={Math.round(atS)}
        onChange={(event) => seek(Math.min(Number(event.target.value), reachedS))}
      />
    </>
  );
}

function describeTime(atS: number, { outageS, recoveryS }: Span): string {
  if (atS < outageS) return `${outageS - atS} s before the outage`;
  if (atS < recoveryS) return `${atS - outageS} s into the outage`;
  return `${atS - recoveryS} s after the outage`;
}
