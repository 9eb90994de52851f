import { Form, redirect, useNavigation } from 'react-router';
import { KeyField, sendAction } from 'steadfetch/react';
import {
  type ActionStateOf,
  createActionState,
  idempotentAction,
  memoryStore,
} from 'steadfetch/server';
import { orders, work } from './ledger.ts';
import { OrderFields } from './order-fields.tsx';

const placeOrder = idempotentAction(
  async (fields, { tx }) => {
    const article = fields.get('article') as string;
    await work();
    tx.onCommit(() => void orders.push(article));
    if (fields.get('then') === 'redirect') return redirect(`/thanks?article=${article}`);
    return { article };
  },
  { store: memoryStore({ maxKeys: 1_000_000 }), name: 'place-order' },
);

type State = ActionStateOf<{ article: string }>;

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
  // It can be called once.
  return sendAction('order', fields, serverAction, { maxRetries: 0 });
}

export default function Order({
  loaderData,
  actionData,
}: {
  readonly loaderData: { readonly first: State };
  readonly actionData?: State;
}) {
  const state = actionData ?? loaderData.first;
  const isPending = useNavigation().state !== 'idle';
  const article = state.status === 'succeeded' ? state.data.article : '';
  return (
    <Form method="post">
      <KeyField state={state} form="order" />
      <OrderFields told={isPending ? 'sending' : `${state.status} ${article}`} />
    </Form>
  );
}
