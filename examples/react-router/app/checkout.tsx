import { Form, useNavigation } from 'react-router';
import { KeyField, sendAction } from 'steadfetch/react';
import { createActionState, idempotentAction, refuse } from 'steadfetch/server';
import { store } from './db.server.ts';

// An app with users passes `scope`, too: a function that returns the id of the user.
const placeOrder = idempotentAction(
  (fields, { tx }) => {
    const article = fields.get('article');
    if (typeof article !== 'string' || !article) return refuse({ article: 'Choose an article.' });
    const { lastInsertRowid } = tx.prepare('INSERT INTO orders (article) VALUES (?)').run(article);
    return { id: Number(lastInsertRowid) };
  },
  { store, name: 'place-order', keepFields: ['article'] },
);

type State = Awaited<ReturnType<typeof placeOrder>>;

export const loader = () => ({ first: createActionState() });

export const action = async ({ request }: { readonly request: Request }) =>
  placeOrder(undefined, await request.formData());

export async function clientAction({
  request,
  serverAction,
}: {
  readonly request: Request;
  readonly serverAction: () => Promise<State>;
}) {
  const fields = await request.clone().formData();
  // React Router lets it be called once, so the user presses again.
  return sendAction('checkout', fields, serverAction, { maxRetries: 0 });
}

export default function Checkout({
  loaderData,
  actionData,
}: {
  readonly loaderData: { readonly first: State };
  readonly actionData: State | undefined;
}) {
  const state = actionData ?? loaderData.first;
  const isPending = useNavigation().state !== 'idle';
  const typed = 'fields' in state ? state.fields['article'] : '';
  return (
    <Form method="post">
      <KeyField state={state} form="checkout" />
      <input name="article" aria-label="Article" defaultValue={typed} />
      <button aria-disabled={isPending}>Order</button>
      <p role="status">
        {state.status === 'succeeded' &&
          `${state.isReplayed ? 'Already ordered' : 'Ordered'}. Your number is ${state.data.id}.`}
        {state.status === 'refused' && state.data.article}
        {state.status === 'unknown' &&
          'It may have been ordered. Press again to find out: you will not get two.'}
        {state.status === 'needs-confirmation' &&
          'An earlier order may have been placed. Press again to order this, too.'}
      </p>
    </Form>
  );
}
