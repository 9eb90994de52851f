import { type QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { useCallback, useId, useRef, useState, useSyncExternalStore } from 'react';
import { useMutationStatus } from 'steadfetch/react';
import { idempotent } from 'steadfetch/server';
import { english, TextsProvider } from 'steadfetch/ui';
import { Act } from '../act/act.tsx';
import { troubleNow, TroubleSwitch, troubleOf } from '../act/controls.tsx';
import { Ledger } from '../act/ledger.tsx';
import type { Lane } from '../act/recording.ts';
import { createRecorder, watchAlone, watchSteady } from '../act/recorder.ts';
import { createSession, useRun } from '../act/session.ts';
import { countOf, endVerdict, type Verdict } from '../act/verdict.tsx';
import { type Books, booksStore, emptyBooks, settle } from '../api/books.ts';
import { createTabState } from '../api/kept-state.ts';
import { createServer, type Side, sides, urlOf } from '../api/server.ts';
import { serve, useServing } from '../api/serving.ts';
import type { Trouble } from '../api/troubles.ts';
import { kites } from '../shop/kites.ts';
import * as alone from './alone.tsx';
import aloneSource from './alone.tsx?raw';
import { Closing, describeOrder, type Order, type Receipt } from './slip.tsx';
import * as steady from './steady.tsx';
import steadySource from './steady.tsx?raw';
import { troubles } from './troubles.ts';
import './order.css';

const isSame = (one: Order, other: Order): boolean =>
  one.kite === other.kite && one.quantity === other.quantity;

const deskOf = (side: Side) => createTabState<Books<Order>>(`steadfetch.order.${side}`, emptyBooks);
const desks = { alone: deskOf('alone'), steady: deskOf('steady') };

function serverOf(side: Side) {
  const desk = desks[side];
  const book = idempotent(
    async (request, { tx }) => {
      const receipt: Receipt = { number: tx.book((await request.json()) as Order) };
      return Response.json(receipt, { status: 201 });
    },
    { store: booksStore(desk, isSame) },
  );
  return createServer({
    side,
    path: 'orders',
    method: 'post',
    desk,
    answer: book,
    async onArrived(response) {
      const { number = 0 } = (await response.json()) as Partial<Receipt>;
      desk.update((state) => settle(state, number, isSame));
    },
  });
}

const servers = { alone: serverOf('alone'), steady: serverOf('steady') };
const recorder = createRecorder('order');
watchAlone(recorder, alone.queryClient, servers.alone);
watchSteady(recorder, steady.steady, steady.queryClient);
const session = createSession({ desks, servers, recorder, empty: emptyBooks });
session.play(troubleNow(troubles));
/** What is ordered: kept over a reload, so that one need not choose it again. */
const draft = createTabState<Order>('steadfetch.order', { kite: 'kestrel', quantity: 1 });

const serving = serve(servers.alone.route, servers.steady.route);
/** @public The app waits for it. */
export const { started } = serving;

const texts = [
  {
    ...english,
    form: {
      ...english.form,
      another: 'Order another',
      succeeded: 'Ordered',
      question: 'Order this, too?',
      confirm: 'Order it',
      back: 'Do not order',
    },
  },
];

const code = {
  alone: { file: 'order-form.tsx', source: aloneSource },
  steady: { file: 'order-form.tsx', source: steadySource },
};

/** Order it: an order whose answer is lost. */
export default function OrderAct({ place }: { readonly place: string | undefined }) {
  const trouble = troubleOf(troubles, place);
  const run = useRun(session, trouble);
  return (
    <QueryClientProvider client={steady.queryClient}>
      <TextsProvider texts={texts}>
        <Stage key={run} run={run} trouble={trouble} />
      </TextsProvider>
    </QueryClientProvider>
  );
}

function Stage({ run = 0, trouble }: { readonly run: number | undefined; trouble: Trouble }) {
  const isReady = useServing(serving) && run > 0;
  const recording = useSyncExternalStore(recorder.subscribe, recorder.getState);
  const order = useSyncExternalStore(draft.subscribe, draft.getState);
  const books = {
    alone: useSyncExternalStore(desks.alone.subscribe, desks.alone.getState),
    steady: useSyncExternalStore(desks.steady.subscribe, desks.steady.getState),
  };
  const [closed, setClosed] = useState<Readonly<Partial<Record<Side, boolean>>>>({});
  const onClose = {
    alone: useCallback(
      (isClosed: boolean) => setClosed((now) => ({ ...now, alone: isClosed })),
      [],
    ),
    steady: useCallback(
      (isClosed: boolean) => setClosed((now) => ({ ...now, steady: isClosed })),
      [],
    ),
  };
  const panes = useRef<Partial<Record<Side, HTMLDivElement | null>>>({});
  const { cancel } = useMutationStatus({ mutationKey: [urlOf(run, 'steady', 'orders')] });
  const isClosed = sides.some((side) => closed[side] === true);
  /** Presses the button of both forms; of those that are closed, if there are any. */
  const press = (): void => {
    for (const side of sides) {
      if ((closed[side] === true) === isClosed) {
        panes.current[side]?.querySelector('form')?.requestSubmit();
      }
    }
  };
  const pane = (side: Side, OrderForm: typeof alone.OrderForm, queryClient: QueryClient) => (
    <div
      ref={(element) => {
        panes.current[side] = element;
      }}
    >
      <div className="order-place">
        {isReady && (
          <QueryClientProvider client={queryClient}>
            <Closing value={onClose[side]}>
              <OrderForm order={order} url={urlOf(run, side, 'orders')} />
            </Closing>
          </QueryClientProvider>
        )}
      </div>
      <Ledger books={desks[side]} title="Booked by the shop" describe={describeOrder} />
    </div>
  );
  const verdicts = {
    alone: verdictOf(books.alone, recording.alone),
    steady: verdictOf(books.steady, recording.steady),
  };
  return (
    <Act
      controls={
        <>
          <TroubleSwitch act="order" troubles={troubles} chosen={trouble} />
          <div className="actions">
            <OrderFields order={order} isClosed={isClosed} />
            <button
              type="button"
              className="button"
              data-primary
              disabled={!isReady}
              onClick={press}
            >
              {isClosed ? 'Order another' : 'Order on both sides'}
            </button>
            <button type="button" className="button" onClick={() => location.reload()}>
              Reload the page
            </button>
            <button
              type="button"
              className="button"
              onClick={() => {
                cancel();
                session.startOver();
              }}
            >
              Start over
            </button>
          </div>
        </>
      }
      verdicts={verdicts}
      conclusion={conclude(books, recording)}
      recorder={recorder}
      panes={{
        alone: pane('alone', alone.OrderForm, alone.queryClient),
        steady: pane('steady', steady.OrderForm, steady.queryClient),
      }}
      note={
        <p>
          <b>Protected by the key:</b> retries, a double click, a reload, Back, the same form opened
          twice. <b>Not:</b> ordering again after “Ordered”. That is a new order, so the form
          closes.
        </p>
      }
      code={code}
    />
  );
}

function OrderFields({ order, isClosed }: { readonly order: Order; readonly isClosed: boolean }) {
  const id = useId();
  const change = (part: Partial<Order>): void => draft.update((now) => ({ ...now, ...part }));
  return (
    <fieldset className="order-fields" disabled={isClosed}>
      <legend className="visually-hidden">What to order</legend>
      <label className="visually-hidden" htmlFor={`${id}-quantity`}>
        Quantity
      </label>
      <select
        id={`${id}-quantity`}
        value={order.quantity}
        onChange={({ target }) => change({ quantity: Number(target.value) })}
      >
        {[1, 2, 3].map((quantity) => (
          <option key={quantity}>{quantity}</option>
        ))}
      </select>
      <label className="visually-hidden" htmlFor={`${id}-kite`}>
        Kite
      </label>
      <select
        id={`${id}-kite`}
        value={order.kite}
        onChange={({ target }) => change({ kite: target.value })}
      >
        {kites.map(({ id: value, name }) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
    </fieldset>
  );
}

const countKites = ({ booked }: Books<Order>): number =>
  booked.reduce((sum, { quantity }) => sum + quantity, 0);

function verdictOf(books: Books<Order>, lanes: readonly Lane[]): Verdict {
  const { booked, requests, keysSeen } = books;
  const detail = `${countOf(requests, 'request')}, ${countOf(keysSeen.length, 'key')}`;
  const text = countOf(countKites(books), 'kite');
  if (booked.some(({ isDuplicate }) => isDuplicate)) {
    return { text, detail, tone: 'bad' };
  }
  if (booked.length > 0) return { text, detail, tone: 'ok' };
  return { ...endVerdict(lanes, 'No kite'), detail };
}

function conclude(
  books: Readonly<Record<Side, Books<Order>>>,
  lanes: Readonly<Record<Side, readonly Lane[]>>,
): string {
  const isOver = sides.every((side) => /answered|failed/.test(lanes[side].at(-1)?.end?.how ?? ''));
  if (!isOver) return '';
  const [one, other] = [books.alone, books.steady];
  if (one.booked.some(({ isDuplicate }) => isDuplicate)) {
    return 'A new key is a new order. The same key is the same order.';
  }
  if (one.booked.length < other.booked.length) {
    return `React Query alone sent ${one.requests} and gave up. Steadfetch sent ${other.requests} and got its answer.`;
  }
  if (other.booked.length === 0) {
    return `Refused on both sides. Steadfetch asked once, React Query alone ${one.requests} times.`;
  }
  return one.requests + other.requests > one.booked.length + other.booked.length
    ? 'Both ordered once: nothing was booked before the answer.'
    : 'Both ordered once. Nothing went wrong.';
}
