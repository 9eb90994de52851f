import { idempotent } from 'steadfetch/server';
import { db, store } from './db.server.ts';

export const loader = () => Response.json(db.prepare('SELECT id, article FROM orders').all());

// An app with users passes `scope`, too: a function that returns the id of the user.
const placeOrder = idempotent(
  async (request, { tx }) => {
    const { sku } = (await request.json()) as { sku: string };
    const { lastInsertRowid } = tx.prepare('INSERT INTO orders (article) VALUES (?)').run(sku);
    return Response.json({ id: `${lastInsertRowid}` }, { status: 201 });
  },
  { store },
);

export const action = ({ request }: { readonly request: Request }) => placeOrder(request);
