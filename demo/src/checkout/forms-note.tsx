import { formatOptions } from '../scenarios/format-options.ts';
import { orderPolicy } from './place-order.ts';

/** What the two forms are made of. */
export function FormsNote() {
  return (
    <section className="policy" aria-labelledby="policy-title">
      <h2 id="policy-title">The two forms</h2>
      <p>
        Both forms have the same fields, and their shops honour idempotency keys. The naive form
        creates its key where many apps do, in the function that is retried. Steadfetch creates one
        key per submission, and still knows it after a reload.
      </p>
      <dl>
        <dt>Naive</dt>
        <dd>
          <code>{'useMutation({ mutationFn, retry: 3 })'}</code>
        </dd>
        <dt>Steadfetch</dt>
        <dd>
          <code>{"useSafeSubmit(placeOrder, { form: 'checkout' })"}</code>
        </dd>
        <dt>Its policy</dt>
        <dd>
          <code>{formatOptions(orderPolicy)}</code>
        </dd>
      </dl>
    </section>
  );
}
