import type { Operation } from '../operation/operation.ts';
import type { Pause } from '../origin/wait-queue.ts';
import type { Message } from './messages.ts';
import type { Row } from './store/schema.ts';

/** Which attempt it is: a row that another tab has taken over since is at another. */
type AttemptRef = Pick<Row, 'id' | 'attempts'>;

/** What a tab says of one. */
type Said = Extract<Message, { readonly kind: 'paused' }>;

/** What is known to be paused. */
export interface PausedRows {
  /** What the attempt waits for that a row is at; undefined when it does not. */
  readonly of: (row: Row) => Pause | undefined;
  /** All rows of which `of` may know something. */
  readonly ids: () => ReadonlySet<string>;
}

/**
 * What the attempts of all tabs wait for before they are sent. Nothing of it is on the disk, where
 * their rows are being sent: a tab says it to the others, and to those that come later.
 */
export interface Pauses extends PausedRows {
  /** An attempt of this tab waits, waits for something else, or waits no more. */
  readonly note: (attempt: AttemptRef, live: Operation) => void;
  /** Another tab says so. */
  readonly hear: (said: Said) => void;
  /** Asks the other tabs: this one is new, or has slept and heard nothing. */
  readonly ask: () => void;
  /** Another tab asks. */
  readonly answer: () => void;
}

export function createPauses(post: (message: Message) => void): Pauses {
  const own = new Map<string, Said>();
  const heard = new Map<string, Said>();
  const nameOf = ({ id, attempts }: AttemptRef): string => `${attempts} ${id}`;
  const keep = (said: Said, all: Map<string, Said>): void => {
    if (said.pause) all.set(nameOf(said), said);
    else all.delete(nameOf(said));
  };
  return {
    note({ id, attempts }, { pauses: [pause] }) {
      const said = { kind: 'paused', id, attempts, pause: pause?.pause } as const;
      if (said.pause === own.get(nameOf(said))?.pause) return;
      keep(said, own);
      post(said);
    },
    hear: (said) => keep(said, heard),
    ask() {
      heard.clear();
      post({ kind: 'here' });
    },
    answer() {
      for (const said of own.values()) post(said);
    },
    of(row) {
      const name = nameOf(row);
      return row.state === 'sending' ? (own.get(name) ?? heard.get(name))?.pause : undefined;
    },
    ids: () => new Set([...own.values(), ...heard.values()].map(({ id }) => id)),
  };
}
