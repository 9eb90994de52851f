import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { idempotent, memoryStore } from 'steadfetch/server';

const orders = [];

const placeOrder = idempotent(
  async (request, { tx }) => {
    const { article } = await request.json();
    const order = { id: crypto.randomUUID().slice(0, 8), article };
    tx.onCommit(() => orders.push(order));
    return Response.json(order, { status: 201 });
  },
  // For a demo. A real shop passes the store of its database, and `scope`, the id of the user.
  { store: memoryStore() },
);

const app = new Hono();
app.get('/api/products', (c) => c.json(['kite', 'lamp', 'rope']));
app.get('/api/orders', (c) => c.json(orders));
app.post('/api/orders', (c) => placeOrder(c.req.raw));
app.use(serveStatic({ root: './dist' }));

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });
