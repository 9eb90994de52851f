import { mutationOptions, defineIdempotency, type SteadfetchConfig } from 'steadfetch';
import { act } from '@testing-library/react';
import { type SafeSubmitOptions, type SafeSubmitResult, useSafeSubmit } from 'steadfetch/react';
import { onTestFinished } from 'vitest';
import { createHandle } from '../react-query/handle.ts';
import { createRig, type Rig } from '../react-query/rig.tsx';
import { createOrderBook, type OrderBook } from './order-book.ts';

export interface Receipt {
  readonly id: number;
}
export type Payload = FormData | Readonly<Record<string, unknown>>;

type Form = SafeSubmitResult<Receipt, Error, Payload>;
type Options = Partial<SafeSubmitOptions<Receipt, Payload>>;

/** A page with forms, and the server that they order from. */
export interface FormRig extends Rig {
  readonly book: OrderBook;
  readonly placeOrder: ReturnType<typeof optionsOf>;
  /** A form called checkout, unless it has another name. */
  readonly createForm: (
    options?: Options,
    own?: object,
  ) => {
    readonly Form: () => null;
    readonly last: () => Form;
    /** Presses Submit, and gives what becomes of it. */
    readonly press: (payload?: Payload) => ReturnType<Form['submit']>;
  };
}

const optionsOf = ({ steady }: Rig) =>
  mutationOptions(steady, {
    mutationKey: ['order'],
    mutationFn: (payload: Payload, { json }) =>
      json<Receipt>('/orders', {
        method: 'POST',
        ...(payload instanceof FormData ? { body: payload } : { json: payload }),
      }),
    policy: { maxRetries: 0 },
  });

export const kite = { sku: 'kite' };

/** `isReload`: what the tab knows from before stays. */
export function createFormRig({
  book = createOrderBook(),
  lifetimeMs = Infinity,
  isReload = false,
  config = {},
}: {
  readonly book?: OrderBook;
  readonly lifetimeMs?: number;
  readonly isReload?: boolean;
  readonly config?: SteadfetchConfig;
} = {}): FormRig {
  if (!isReload) sessionStorage.clear();
  const rig = createRig({
    fetch: book.fetch,
    apis: [
      {
        match: 'http://localhost:3000/orders',
        idempotency: defineIdempotency({ header: 'Idempotency-Key', lifetimeMs }),
      },
    ],
    ...config,
  });
  onTestFinished(() => sessionStorage.clear());
  const placeOrder = optionsOf(rig);
  return {
    ...rig,
    book,
    placeOrder,
    createForm(options = {}, own = {}) {
      const handle = createHandle<Form>();
      return {
        Form() {
          handle.set(useSafeSubmit({ ...placeOrder, ...own }, { form: 'checkout', ...options }));
          return null;
        },
        last: handle.get,
        press(payload = kite) {
          let result!: ReturnType<Form['submit']>;
          act(() => {
            result = handle.get().submit(payload);
          });
          return result;
        },
      };
    },
  };
}
