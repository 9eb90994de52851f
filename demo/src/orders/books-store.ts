import type { IdempotencyStore, StoredAnswer } from 'steadfetch/server';
import type { KeyEntry, Keys } from './books.ts';
import type { TabState } from './tab-state.ts';

/** What a handler gets: what it books is committed with its answer, or not at all. */
export interface BooksTransaction<T> {
  /** Books something, and gives its number. */
  readonly book: (what: T) => number;
}

/** Keeps keys and answers in the books of a shop, where what it has booked is: one write for both. */
export function booksStore<B extends Keys, T extends object>(
  books: TabState<B>,
  enter: (books: B, what: T & { readonly number: number }) => B,
): IdempotencyStore<BooksTransaction<T>> {
  const find = (id: string): KeyEntry | undefined => books.getState().keys[id];
  const keep = (id: string, entry: KeyEntry | undefined): void =>
    books.update((state) => ({ ...state, keys: withEntry(state, id, entry) }));
  const dropExpired = (nowMs: number): void => {
    const living = Object.entries(books.getState().keys).filter(
      ([, { expiresAtMs }]) => expiresAtMs > nowMs,
    );
    books.update((state) => ({ ...state, keys: Object.fromEntries(living) }));
  };

  return {
    claim({ id, fingerprint, token, nowMs, leaseMs, lifetimeMs }) {
      dropExpired(nowMs);
      const found = find(id);
      if (!found || isAbandoned(found, fingerprint, nowMs)) {
        keep(id, {
          fingerprint,
          token,
          leaseUntilMs: nowMs + leaseMs,
          expiresAtMs: nowMs + lifetimeMs,
        });
        return { kind: 'claimed' };
      }
      return found.answer
        ? { kind: 'answered', fingerprint: found.fingerprint, answer: revive(found.answer) }
        : { kind: 'running', fingerprint: found.fingerprint };
    },

    async run({ id, token }, work) {
      const booked: (T & { readonly number: number })[] = [];
      const isHeld = (): boolean => find(id)?.token === token;
      let answer: StoredAnswer | undefined;
      try {
        answer = await work({
          book(what) {
            const number = books.getState().lastNumber + 1;
            books.update((state) => ({ ...state, lastNumber: number }));
            booked.push({ ...what, number });
            return number;
          },
        });
      } finally {
        if (!answer && isHeld()) keep(id, undefined);
      }
      if (!answer) return true;
      const entry = find(id);
      if (!entry || entry.token !== token) return false;
      const { status, headers, body } = answer;
      const answered = { ...entry, answer: { status, headers, body: [...body] } };
      books.update((state) => ({
        ...booked.reduce(enter, state),
        keys: withEntry(state, id, answered),
      }));
      return true;
    },
  };
}

/** Left behind by a page that was closed in between. */
function isAbandoned(entry: KeyEntry, fingerprint: string, nowMs: number): boolean {
  return !entry.answer && entry.leaseUntilMs <= nowMs && entry.fingerprint === fingerprint;
}

function withEntry({ keys }: Keys, id: string, entry: KeyEntry | undefined): Keys['keys'] {
  const { [id]: _, ...others } = keys;
  return entry ? { ...others, [id]: entry } : others;
}

const revive = (answer: NonNullable<KeyEntry['answer']>): StoredAnswer => ({
  ...answer,
  body: Uint8Array.from(answer.body),
});
