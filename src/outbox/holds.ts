import type { LiveOperation } from '../fetch/live-operation.ts';
import type { Held } from '../origin/wait-queue.ts';
import type { Message } from './messages.ts';
import type { Row } from './row.ts';

/** Which attempt it is: a row that another tab has taken over since is at another. */
type AttemptRef = Pick<Row, 'id' | 'attempts'>;

/** What a tab says of one. */
type Said = Extract<Message, { readonly kind: 'held' }>;

/** What is known to be held. */
export interface HeldRows {
  /** What the attempt waits for that a row is at; undefined when it does not. */
  readonly of: (row: Row) => Held | undefined;
  /** All rows of which `of` may know something. */
  readonly ids: () => ReadonlySet<string>;
}

/**
 * What the attempts of all tabs wait for before they are sent. Nothing of it is on the disk, where
 * their rows are being sent: a tab says it to the others, and to those that come later.
 */
export interface Holds extends HeldRows {
  /** An attempt of this tab waits, waits for something else, or waits no more. */
  readonly note: (attempt: AttemptRef, live: LiveOperation) => void;
  /** Another tab says so. */
  readonly hear: (said: Said) => void;
  /** Asks the other tabs: this one is new, or has slept and heard nothing. */
  readonly ask: () => void;
  /** Another tab asks. */
  readonly answer: () => void;
}

export function createHolds(post: (message: Message) => void): Holds {
  const own = new Map<string, Said>();
  const heard = new Map<string, Said>();
  const nameOf = ({ id, attempts }: AttemptRef): string => `${attempts} ${id}`;
  const keep = (said: Said, all: Map<string, Said>): void => {
    if (said.held) all.set(nameOf(said), said);
    else all.delete(nameOf(said));
  };
  return {
    note({ id, attempts }, { holds: [hold] }) {
      const said = { kind: 'held', id, attempts, held: hold?.held } as const;
      if (said.held === own.get(nameOf(said))?.held) return;
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
      return row.state === 'sending' ? (own.get(name) ?? heard.get(name))?.held : undefined;
    },
    ids: () => new Set([...own.values(), ...heard.values()].map(({ id }) => id)),
  };
}
