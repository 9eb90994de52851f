import type { Storage } from './storage.ts';
import type { TabPorts } from './tab-ports.ts';

/**
 * Gives up what a page that is put away cannot hold, and looks again whenever somebody looks at it.
 * `onLeft`: something is to be sent, and the page may not be there to do it. @returns what ends it.
 */
export function watchPage(
  ports: TabPorts,
  storage: Pick<Storage, 'durable' | 'engines'>,
  onLeft: () => void,
  onLook: (wasAway: boolean) => void,
): () => void {
  let isAway = false;
  return ports.watch((now) => {
    const wasAway = isAway;
    isAway = now === 'away';
    const engine = storage.durable();
    if (now !== 'here' && engine?.ownership.held()[0]) onLeft();
    if (isAway) return engine?.leave();
    void engine?.ownership.comeBack();
    for (const one of storage.engines()) one.worker.look();
    onLook(wasAway);
  });
}
