import type { Clock, SharePorts } from '../../src/index.ts';

/** How late the messages and locks of one browser reach its tabs. */
const wayMs = 1;

/** What joins the tabs of one browser, all of them visible: a call for each tab. */
export function createBrowser(clock: Clock): () => SharePorts {
  const ears = new Set<(message: unknown) => void>();
  const queues = new Map<string, (() => void)[]>();
  const later = (act: () => void): void => void clock.setTimeout(act, wayMs);

  return () => ({
    open(receive) {
      const own = (message: unknown): void => receive(message);
      ears.add(own);
      return {
        post(message) {
          for (const ear of ears) if (ear !== own) later(() => ears.has(ear) && ear(message));
        },
        close: () => void ears.delete(own),
      };
    },
    lock(name, granted) {
      const queue = queues.get(name) ?? [];
      queues.set(name, queue);
      let isOver = false;
      const grant = (): void => later(() => isOver || granted());
      queue.push(grant);
      if (queue[0] === grant) grant();
      return () => {
        if (isOver) return;
        isOver = true;
        const wasFirst = queue[0] === grant;
        queue.splice(queue.indexOf(grant), 1);
        if (wasFirst) queue[0]?.();
      };
    },
    watch(listener) {
      listener('visible');
      return () => {};
    },
  });
}
