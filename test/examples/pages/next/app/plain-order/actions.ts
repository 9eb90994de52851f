'use server';

import { redirect } from 'next/navigation';
import { orders, work } from '../ledger.ts';

export async function placeOrder(_: unknown, fields: FormData) {
  const article = fields.get('article') as string;
  await work();
  orders.push(article);
  if (fields.get('then') === 'redirect') redirect(`/thanks?article=${article}`);
  return { article };
}
