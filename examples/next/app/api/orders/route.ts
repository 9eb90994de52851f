import { idempotent } from 'steadfetch/server';
import { db, store } from '../../db.ts';

export const dynamic = 'force-dynamic';

export const GET = () => Response.json(db.prepare('SELECT id, article FROM orders').all());

// An app with users passes `scope`, too: a function that returns the id of the user.
export const POST = idempotent(
  async (request, { tx }) => {
    const { sku } = (await request.json()) as { sku: string };
    const { lastInsertRowid } = tx.prepare('INSERT INTO orders (article) VALUES (?)').run(sku);
    return Response.json({ id: `${lastInsertRowid}` }, { status: 201 });
  },
  { store },
);
