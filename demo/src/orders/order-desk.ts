import { http, type HttpHandler, HttpResponse } from 'msw';
import { idempotent } from 'steadfetch/server';
import { slow } from 'steadfetch/testing';
import { book, type Books, type NewOrder, openBooks, settle } from './books.ts';
import { booksStore } from './books-store.ts';
import { type FormName, type Order, ordersUrl, type Receipt } from './order.ts';
import { createTroubleMaker } from './strikes.ts';
import type { TabState } from './tab-state.ts';
import type { Trouble } from './troubles.ts';

/** A shop that takes orders, and honours idempotency keys. */
export interface OrderDesk {
  readonly books: TabState<Books>;
  /** What goes wrong from now on. */
  readonly play: (trouble: Trouble) => void;
  /** Answers requests of this round; those of an earlier one get none. */
  readonly open: (round: number) => void;
  readonly handler: HttpHandler;
}

/** Long enough that a request can be seen on its way. */
const latency = slow({ delayMs: 400 });

export function createOrderDesk(form: FormName): OrderDesk {
  const books = openBooks(form);
  let url = '';
  const { play, strike } = createTroubleMaker<Books, Trouble>(books);

  const placeOrder = idempotent(
    async (request, { key, tx }) => {
      const order = (await request.json()) as Order;
      const receipt: Receipt = { number: tx.book({ ...order, at: Date.now(), key }) };
      return Response.json(receipt, { status: 201 });
    },
    { store: booksStore<Books, NewOrder>(books, book) },
  );

  const arrive = async (answer: Response): Promise<void> => {
    const { number } = (await answer.clone().json()) as Partial<Receipt>;
    books.update((state) => ({ ...settle(state, number ?? 0), failureCount: 0 }));
  };

  return {
    books,
    play,
    open(round) {
      url = ordersUrl(form, round);
    },
    handler: http.post(`*/api/${form}/orders`, async (info) => {
      const isOver = (): boolean => info.request.url !== url;
      if (isOver()) return HttpResponse.error();
      books.update((state) => ({ ...state, requestCount: state.requestCount + 1 }));
      await latency(info);
      if (isOver()) return HttpResponse.error();
      const refused = await strike(info, 'before');
      if (refused) return refused;
      const answer = await placeOrder(info.request);
      const lost = await strike(info, 'after');
      if (lost) return lost;
      await arrive(answer);
      return answer;
    }),
  };
}
