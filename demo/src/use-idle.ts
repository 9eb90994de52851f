import { startTransition, useEffect, useState } from 'react';

/** Whether the browser has had nothing better to do: what is below the first screen, and long, waits for that. */
export function useIdle(): boolean {
  const [isIdle, setIdle] = useState(false);
  useEffect(() => {
    const show = (): void => startTransition(() => setIdle(true));
    // Safari has none.
    if (typeof requestIdleCallback === 'undefined') {
      const timer = setTimeout(show, 500);
      return () => clearTimeout(timer);
    }
    const idle = requestIdleCallback(show, { timeout: 1000 });
    return () => cancelIdleCallback(idle);
  }, []);
  return isIdle;
}
