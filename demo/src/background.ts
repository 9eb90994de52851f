import { startTransition, useEffect, useState } from 'react';

/** Calls back when nothing is more urgent. @returns what takes that back */
export function inBackground(act: () => void): () => void {
  // Safari has no scheduler.
  if (!('scheduler' in globalThis)) {
    const timer = setTimeout(act, 200);
    return () => clearTimeout(timer);
  }
  const controller = new AbortController();
  const { signal } = controller;
  scheduler.postTask(act, { priority: 'background', signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return () => controller.abort();
}

/** Whether all that is more urgent is done: what is below the first screen, and long, waits for that. */
export function useBackground(): boolean {
  const [isTime, setTime] = useState(false);
  useEffect(() => inBackground(() => startTransition(() => setTime(true))), []);
  return isTime;
}
