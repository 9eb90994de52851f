'use server';

import { redirect } from 'next/navigation';
import { idempotentAction, memoryStore } from 'steadfetch/server';
import { orders, work } from '../ledger.ts';

export const placeOrder = idempotentAction(
  async (fields, { tx }) => {
    const article = fields.get('article') as string;
    await work();
    tx.onCommit(() => void orders.push(article));
    if (fields.get('then') === 'redirect') redirect(`/thanks?article=${article}`);
    return { article };
  },
  { store: memoryStore({ maxKeys: 1_000_000 }), name: 'place-order' },
);
