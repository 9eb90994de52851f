import type { IdempotencyStore, StoredAnswer } from 'steadfetch/server';
import type { KeptState } from './kept-state.ts';
import { type Desk, emptyDesk } from './server.ts';

/** What is known of an idempotency key. */
interface KeyEntry {
  readonly fingerprint: string;
  readonly token: string;
  readonly leaseUntilMs: number;
  readonly expiresAtMs: number;
  readonly answer?: Omit<StoredAnswer, 'body'> & { readonly body: readonly number[] };
}

/** What a shop has booked, and will send. */
export interface Booking {
  readonly number: number;
  /** In epoch milliseconds. */
  readonly at: number;
  readonly key: string;
  /** The user has got an answer to it, or to one just like it. */
  readonly isAnswered: boolean;
  /** The same was booked before, and nobody had been told: this one was not meant. */
  readonly isDuplicate: boolean;
}

/** The books of a shop. They outlive a reload, as those of a server would. */
export interface Books<T> extends Desk {
  readonly booked: readonly (T & Booking)[];
  readonly keys: Readonly<Record<string, KeyEntry>>;
  readonly lastNumber: number;
}

export const emptyBooks: Books<never> = { ...emptyDesk, booked: [], keys: {}, lastNumber: 0 };

type IsSame<T> = (one: T, other: T) => boolean;

/** What a handler gets: what it books is committed with its answer, or not at all. */
export interface BooksTransaction<T> {
  /** Books something, and gives its number. */
  readonly book: (what: T) => number;
}

/** The answer to an order has arrived: whoever sends the same once more wants it once more. */
export function settle<T>(books: Books<T>, number: number, isSame: IsSame<T>): Books<T> {
  const told = books.booked.find((one) => one.number === number);
  if (!told) return books;
  const booked = books.booked.map((one) =>
    isSame(one, told) ? { ...one, isAnswered: true } : one,
  );
  return { ...books, booked };
}

/** Keeps keys and answers in the books, where what was booked is: one write for both. */
export function booksStore<T extends object>(
  books: KeptState<Books<T>>,
  isSame: IsSame<T>,
): IdempotencyStore<BooksTransaction<T>> {
  const find = (id: string): KeyEntry | undefined => books.getState().keys[id];
  const keep = (id: string, entry: KeyEntry | undefined): void =>
    books.update((state) => ({ ...state, keys: withEntry(state.keys, id, entry) }));

  return {
    claim({ id, fingerprint, token, nowMs, leaseMs, lifetimeMs }) {
      books.update((state) => ({
        ...state,
        keys: Object.fromEntries(
          Object.entries(state.keys).filter(([, { expiresAtMs }]) => expiresAtMs > nowMs),
        ),
      }));
      const found = find(id);
      // Left behind by a page that was closed in between.
      const isAbandoned =
        found && !found.answer && found.leaseUntilMs <= nowMs && found.fingerprint === fingerprint;
      if (!found || isAbandoned) {
        const [leaseUntilMs, expiresAtMs] = [nowMs + leaseMs, nowMs + lifetimeMs];
        keep(id, { fingerprint, token, leaseUntilMs, expiresAtMs });
        return { kind: 'claimed' };
      }
      return found.answer
        ? { kind: 'answered', fingerprint: found.fingerprint, answer: revive(found.answer) }
        : { kind: 'running', fingerprint: found.fingerprint };
    },

    async run({ id, token }, work) {
      const booked: { readonly what: T; readonly number: number }[] = [];
      let answer: StoredAnswer | undefined;
      try {
        answer = await work({
          book(what) {
            const number = books.getState().lastNumber + 1;
            books.update((state) => ({ ...state, lastNumber: number }));
            booked.push({ what, number });
            return number;
          },
        });
      } finally {
        if (!answer && find(id)?.token === token) keep(id, undefined);
      }
      if (!answer) return true;
      const entry = find(id);
      if (!entry || entry.token !== token) return false;
      const { status, headers, body } = answer;
      const answered = { ...entry, answer: { status, headers, body: [...body] } };
      const key = (JSON.parse(id) as readonly string[]).at(-1) ?? '';
      books.update((state) => {
        const all = [...state.booked];
        for (const { what, number } of booked) {
          const isDuplicate = all.some((one) => !one.isAnswered && isSame(one, what));
          all.push({ ...what, number, at: Date.now(), key, isAnswered: false, isDuplicate });
        }
        return { ...state, booked: all, keys: withEntry(state.keys, id, answered) };
      });
      return true;
    },
  };
}

function withEntry(
  keys: Books<never>['keys'],
  id: string,
  entry: KeyEntry | undefined,
): Books<never>['keys'] {
  const { [id]: _, ...others } = keys;
  return entry ? { ...others, [id]: entry } : others;
}

const revive = (answer: NonNullable<KeyEntry['answer']>): StoredAnswer => ({
  ...answer,
  body: Uint8Array.from(answer.body),
});
