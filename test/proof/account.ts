import type { Order } from './contender.ts';
import type { Ledger } from './lossy-server.ts';

/** An order of a cart, whose orders take effect in their order; or of none. */
export interface CartOrder extends Order {
  readonly cart?: string;
}

/** What a page says, at the moment when it knows it. */
export type Told =
  /** It submits these now, in this order. */
  | { readonly kind: 'begun'; readonly page: string; readonly nos: readonly number[] }
  /** It was told that these are kept. */
  | { readonly kind: 'saved'; readonly nos: readonly number[]; readonly isDurable: boolean }
  /** It was told that these have arrived. */
  | { readonly kind: 'delivered'; readonly nos: readonly number[] }
  /** It was told that the browser has deleted its damaged database: what was kept is gone. */
  | { readonly kind: 'erased'; readonly nos: readonly [] };

/** An entry that needs a user. */
export interface DeadOrder {
  readonly no: number;
  readonly reason: string | undefined;
  readonly processed: string;
}

/** What was promised, and not kept: the numbers of the orders. */
export interface Account {
  /**
   * Told as kept on the disk or as arrived, and neither in the ledger nor in the outbox; but for what was
   * on the disk when the browser deleted it, and said so.
   */
  readonly lost: readonly number[];
  /** In the ledger more than once. */
  readonly twice: readonly number[];
  /** In the ledger before another of the same cart that was submitted earlier. */
  readonly early: readonly number[];
  /** Dead with a reason that is not true: it is in the ledger, or was not to be refused. */
  readonly wronglyDead: readonly number[];
}

interface Times {
  page: string;
  begunAt: number;
  /** When it was known to be kept; Infinity where nobody has heard. */
  savedAt: number;
}

/** Compares what pages have told, in the order in which it was heard, with the ledger. */
export function settleAccount(
  orders: readonly CartOrder[],
  told: readonly Told[],
  { orders: counts, sequence }: Pick<Ledger, 'orders' | 'sequence'>,
  { dead, left }: { readonly dead: readonly DeadOrder[]; readonly left: readonly number[] },
  isRefused: (order: CartOrder) => boolean,
): Account {
  const times = new Map<number, Times>();
  const onDisk = new Set<number>();
  const arrived = new Set<number>();
  for (const [at, one] of told.entries()) {
    if (one.kind === 'erased') onDisk.clear();
    for (const [index, no] of one.nos.entries()) {
      const known = times.get(no);
      // Those that are submitted together are so one after the other.
      if (one.kind === 'begun')
        times.set(no, { page: one.page, begunAt: at + index / one.nos.length, savedAt: Infinity });
      else if (one.kind === 'delivered') arrived.add(no);
      else if (one.kind === 'saved' && one.isDurable) {
        onDisk.add(no);
        if (known) known.savedAt = at;
      }
    }
  }
  const kept = new Set([...dead.map(({ no }) => no), ...left]);
  const cartOf = new Map(orders.map(({ no, cart }) => [no, cart]));
  const refused = new Set(orders.filter(isRefused).map(({ no }) => no));
  const isBefore = (one: Times, other: Times): boolean =>
    one.page === other.page ? one.begunAt < other.begunAt : one.savedAt < other.begunAt;

  const early = new Set<number>();
  const first = [...new Set(sequence)];
  for (const [index, no] of first.entries()) {
    const cart = cartOf.get(no);
    const own = times.get(no);
    if (cart === undefined || !own) continue;
    const isEarly = first.slice(index + 1).some((later) => {
      const other = times.get(later);
      return cartOf.get(later) === cart && other && isBefore(other, own);
    });
    if (isEarly) early.add(no);
  }
  return {
    lost: [...new Set([...onDisk, ...arrived])].filter((no) => !counts[no] && !kept.has(no)),
    twice: [...new Set(sequence)].filter((no) => (counts[no] ?? 0) > 1),
    early: [...early],
    wronglyDead: dead
      .filter(
        ({ no, reason, processed }) =>
          reason !== 'refused' || processed === 'yes' || counts[no] || !refused.has(no),
      )
      .map(({ no }) => no),
  };
}
