/** The locks of one tab. */
interface TabLocks {
  /** As the ports of a tab have it: `granted` is called later; what it returns gives the lock back. */
  readonly lock: (name: string, granted: () => void) => () => void;
  /** How many it holds or asks for. */
  readonly count: () => number;
  /** It is gone, and with it all that it holds or asks for. */
  readonly giveUp: () => void;
}

/** The locks of a browser: each has one holder, and the others wait for it in their order. */
export interface Locks {
  readonly open: (tab: string) => TabLocks;
  /** Of each lock that somebody holds, who does, and who waits for it. */
  readonly queues: () => readonly (readonly string[])[];
}

/** `later` runs something after the moment that messages between processes take. */
export function createLocks(later: (act: () => void) => unknown): Locks {
  const queues = new Map<string, { readonly tab: string; readonly grant: () => void }[]>();
  return {
    queues: () =>
      [...queues.values()]
        .filter((queue) => queue.length > 0)
        .map((queue) => queue.map(({ tab }) => tab)),
    open(tab) {
      const given = new Set<() => void>();
      return {
        lock(name, granted) {
          const queue = queues.get(name) ?? [];
          queues.set(name, queue);
          let isOver = false;
          const ask = { tab, grant: (): void => void later(() => isOver || granted()) };
          queue.push(ask);
          if (queue[0] === ask) ask.grant();
          const giveUp = (): void => {
            if (isOver) return;
            isOver = true;
            given.delete(giveUp);
            const wasFirst = queue[0] === ask;
            queue.splice(queue.indexOf(ask), 1);
            if (wasFirst) queue[0]?.grant();
          };
          given.add(giveUp);
          return giveUp;
        },
        count: () => given.size,
        giveUp() {
          for (const giveUp of given) giveUp();
        },
      };
    },
  };
}
