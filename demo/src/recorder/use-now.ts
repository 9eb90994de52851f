import { useEffect, useState } from 'react';

/** How often the picture moves for people who want less motion, in milliseconds. */
const calmStepMs = 1000;

/** The present, in epoch milliseconds: at every frame while something is running. */
export function useNow(isRunning: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isRunning) return undefined;
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) {
      const interval = setInterval(() => setNow(Date.now()), calmStepMs);
      return () => clearInterval(interval);
    }
    let frame = requestAnimationFrame(function step() {
      setNow(Date.now());
      frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [isRunning]);
  return now;
}
