import { focusManager, onlineManager } from '@tanstack/react-query';
import type { Clock } from '../policy/clock.ts';

/** What React Query lets go within this time of the event, it lets go because of it. */
const wakeMs = 100;

/**
 * Says whether React Query is letting go, in one turn, everything that it has held: the network is
 * back, or the tab is seen again.
 */
export function createWake(clock: Clock): () => boolean {
  // On a server nobody wakes.
  if (typeof window === 'undefined') return () => false;
  let wokenAt = -Infinity;
  const note = (isAwake: boolean): void => {
    if (isAwake) wokenAt = clock.now();
  };
  onlineManager.subscribe(note);
  focusManager.subscribe(note);
  return () => clock.now() - wokenAt < wakeMs;
}
