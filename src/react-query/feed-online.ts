import { onlineManager } from '@tanstack/react-query';
import type { Connectivity } from '../connectivity/connectivity.ts';
import type { Hint } from '../connectivity/page-life.ts';

interface Feeder {
  readonly connectivity: Connectivity;
  readonly hint: Hint;
}

/** Who feeds it: the newest instance that is not disposed of. */
const feeders: Feeder[] = [];

/**
 * Tells React Query what is known of the network, in the place of the browser's events. It then also
 * knows of a page that was loaded offline, and misses nothing while no client is mounted.
 *
 * @returns A function that gives it back, as React Query has it by itself.
 */
export function feedOnlineManager(connectivity: Connectivity, hint: Hint): () => void {
  const feeder = { connectivity, hint };
  feeders.push(feeder);
  listenTo(feeder);
  return () => {
    const at = feeders.indexOf(feeder);
    if (at < 0) return;
    const wasNewest = at === feeders.length - 1;
    feeders.splice(at, 1);
    const next = feeders.at(-1);
    if (!wasNewest) return;
    if (next) return listenTo(next);
    onlineManager.setEventListener((setOnline) => {
      const stop = new AbortController();
      const { signal } = stop;
      addEventListener('online', () => setOnline(true), { signal });
      addEventListener('offline', () => setOnline(false), { signal });
      return () => stop.abort();
    });
    onlineManager.setOnline(true);
  };
}

function listenTo({ connectivity, hint }: Feeder): void {
  onlineManager.setEventListener((setOnline) => {
    let told: boolean | undefined;
    let wasOffline = false;
    // Only what has changed: who sets it by hand, as the devtools do, has it that way.
    const tell = (): void => {
      const isOnline = connectivity.getState().status !== 'offline';
      if (isOnline !== told) setOnline((told = isOnline));
      wasOffline &&= isOnline;
    };
    tell();
    const stops = [
      connectivity.subscribe(tell),
      // Offline by the browser alone pauses nothing. That it is over may be news all the same:
      // `refetchOnReconnect` goes by it.
      hint.watch((event) => {
        const isBack = event === 'online' && wasOffline;
        if (event !== 'visible') wasOffline = event === 'offline' && told === true;
        if (!isBack || !onlineManager.isOnline()) return;
        setOnline(false);
        setOnline(true);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  });
}
