import type { Clock, SharePorts } from '../../src/index.ts';

/** How late the messages of one browser reach its tabs. */
const wayMs = 1;

/** What joins the tabs of one browser, all of them visible: a call for each tab. */
export function createBrowser(clock: Clock): () => SharePorts {
  const ears = new Set<(message: unknown) => void>();
  const later = (act: () => void): void => void clock.setTimeout(act, wayMs);

  return () => ({
    open(_, receive) {
      const own = (message: unknown): void => receive(message);
      ears.add(own);
      return {
        post(message) {
          for (const ear of ears) if (ear !== own) later(() => ears.has(ear) && ear(message));
        },
        close: () => void ears.delete(own),
      };
    },
    watch(listener) {
      listener('visible');
      return () => {};
    },
  });
}
