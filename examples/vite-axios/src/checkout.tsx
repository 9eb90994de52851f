import { type FormEvent, useState } from 'react';
import { useSafeSubmit } from 'steadfetch/react';
import { RetryStatus } from 'steadfetch/ui';
import { placeOrder } from './api.ts';

export function Checkout() {
  const [article, setArticle] = useState('kite');
  const { submit, isPending, data, error, unknown, confirmation, target } = useSafeSubmit(
    placeOrder,
    { form: 'checkout' },
  );
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    void submit({ article });
  };
  return (
    <form onSubmit={onSubmit}>
      <h2>Order</h2>
      <label>
        Article <input value={article} onChange={(event) => setArticle(event.target.value)} />
      </label>{' '}
      <button disabled={isPending}>Order</button>
      <RetryStatus mutation={target} />
      <p role="status">
        {data && `Ordered. Your number is ${data.id}.`}
        {unknown && 'It may have been ordered. Press again to find out: you will not get two.'}
        {error && !unknown && 'Not ordered. Nothing was booked.'}
      </p>
      {confirmation && (
        <p>
          An earlier order may have been placed.{' '}
          <button type="button" onClick={() => void confirmation.confirm()}>
            Order this, too
          </button>{' '}
          <button type="button" onClick={confirmation.cancel}>
            Back
          </button>
        </p>
      )}
    </form>
  );
}
