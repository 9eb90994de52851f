import { Form, redirect, useNavigation } from 'react-router';
import { orders, work } from './ledger.ts';
import { OrderFields } from './order-fields.tsx';

export async function action({ request }: { readonly request: Request }) {
  const fields = await request.formData();
  const article = fields.get('article') as string;
  await work();
  orders.push(article);
  if (fields.get('then') === 'redirect') return redirect(`/thanks?article=${article}`);
  return { article };
}

export default function PlainOrder({
  actionData,
}: {
  readonly actionData: { readonly article: string } | undefined;
}) {
  const isPending = useNavigation().state !== 'idle';
  const told = actionData ? `succeeded ${actionData.article}` : 'idle';
  return (
    <Form method="post">
      <OrderFields told={isPending ? 'sending' : told} />
    </Form>
  );
}
