import { useCallback, useEffect, useState } from 'react';
import type { Span } from './storm.ts';

/** How long a storm plays, whatever its length. */
const playMs = 10_000;
/** How often the charts are drawn: at every frame they would keep a phone busy. */
const stepMs = 50;

export interface Playhead {
  /** The second of the storm that is shown. */
  readonly atS: number;
  readonly isPlaying: boolean;
  readonly play: () => void;
  readonly pause: () => void;
  readonly replay: () => void;
  readonly seek: (atS: number) => void;
}

const prefersStill = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;

/**
 * Plays a storm from the start, as far as it has been run. Whoever prefers no motion is shown as much
 * as there is.
 */
export function usePlayhead({ fromS, toS }: Span, reachedS: number): Playhead {
  const [wantedS, setWantedS] = useState(() => (prefersStill() ? toS : fromS));
  const [isStarted, setIsStarted] = useState(() => !prefersStill());
  const isPlaying = isStarted && wantedS < toS;
  const farthestS = Math.min(Math.max(reachedS, fromS), toS);

  useEffect(() => {
    if (!isPlaying) return;
    let frame = 0;
    let lastMs: number | undefined;
    const draw = (nowMs: number): void => {
      frame = requestAnimationFrame(draw);
      if (lastMs !== undefined && nowMs - lastMs < stepMs) return;
      // A tab that comes back from the background goes on where it was.
      const passedMs = Math.min(100, nowMs - (lastMs ?? nowMs));
      lastMs = nowMs;
      setWantedS((before) =>
        Math.max(before, Math.min(before + (passedMs / playMs) * (toS - fromS), farthestS)),
      );
    };
    frame = requestAnimationFrame(draw);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, fromS, toS, farthestS]);

  return {
    atS: Math.min(wantedS, farthestS),
    isPlaying,
    play: useCallback(() => setIsStarted(true), []),
    pause: useCallback(() => setIsStarted(false), []),
    replay: useCallback(() => {
      setWantedS(prefersStill() ? toS : fromS);
      setIsStarted(!prefersStill());
    }, [fromS, toS]),
    seek: useCallback((atS: number) => {
      setIsStarted(false);
      setWantedS(atS);
    }, []),
  };
}
