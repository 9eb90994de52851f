/** Something that is to happen. */
export interface SimEvent {
  readonly atMs: number;
  /** Events of one moment happen in the order in which they were made. */
  readonly order: number;
  /** Absent once it was called off: it stays in the queue, and does nothing. */
  run?: (() => void) | undefined;
}

/** What is to happen, soonest first: a binary heap. */
export interface EventQueue {
  readonly add: (event: SimEvent) => void;
  readonly peek: () => SimEvent | undefined;
  readonly take: () => SimEvent | undefined;
}

export function createEventQueue(): EventQueue {
  const heap: SimEvent[] = [];
  const isBefore = (a: SimEvent, b: SimEvent): boolean =>
    a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);

  return {
    add(event) {
      let hole = heap.length;
      while (hole > 0) {
        const parent = (hole - 1) >> 1;
        const above = heap[parent] as SimEvent;
        if (!isBefore(event, above)) break;
        heap[hole] = above;
        hole = parent;
      }
      heap[hole] = event;
    },
    peek: () => heap[0],
    take() {
      const first = heap[0];
      const last = heap.pop();
      if (!last || last === first) return first;
      let hole = 0;
      for (;;) {
        let child = 2 * hole + 1;
        const left = heap[child];
        if (!left) break;
        const right = heap[child + 1];
        if (right && isBefore(right, left)) child++;
        const below = heap[child] as SimEvent;
        if (!isBefore(below, last)) break;
        heap[hole] = below;
        hole = child;
      }
      heap[hole] = last;
      return first;
    },
  };
}
