import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type FormEvent, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createSteadfetch, profiles, mutationOptions, watchConnectivity } from 'steadfetch';
import { useSafeSubmit } from 'steadfetch/react';

// A form whose every failure is left to the user.

const steady = createSteadfetch({
  connectivity: watchConnectivity(),
  apis: [{ match: location.origin, idempotency: profiles.draft }],
});
const client = new QueryClient({ defaultOptions: steady.defaultOptions });
const placeOrder = mutationOptions(steady, {
  mutationFn: (body: FormData, { json }) =>
    json<{ id: number }>('/api/orders', { method: 'POST', body }),
  policy: { maxRetries: 0, timeout: 60_000 },
});

function Checkout() {
  const form = useSafeSubmit(placeOrder, { form: 'checkout' });
  const { submit, isPending, isError, data, unknown, confirmation } = form;
  const onSubmit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    void submit(new FormData(event.currentTarget));
  };
  return (
    <form onSubmit={onSubmit}>
      <label>
        Kite <input name="sku" />
      </label>
      <button>Order</button>
      <p role="status">
        {isPending && 'Ordering'}
        {data && `Ordered: ${data.id}`}
        {unknown && 'It may have been ordered'}
        {isError && !unknown && 'Not ordered'}
      </p>
      {confirmation && (
        <div role="alertdialog" aria-label="Order this, too?">
          <button type="button" onClick={() => void confirmation.confirm()}>
            Order this, too
          </button>
          <button type="button" onClick={confirmation.cancel}>
            Back
          </button>
        </div>
      )}
    </form>
  );
}

createRoot(document.querySelector('#root') ?? document.body).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Checkout />
    </QueryClientProvider>
  </StrictMode>,
);
