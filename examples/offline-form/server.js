import { serve } from '@hono/node-server';
import { serveStatic } from '@hono/node-server/serve-static';
import { Hono } from 'hono';
import { idempotent, memoryStore } from 'steadfetch/server';

const reports = [];

const addReport = idempotent(
  async (request, { tx }) => {
    const { text } = await request.json();
    const report = { id: crypto.randomUUID(), text };
    tx.onCommit(() => reports.push(report));
    return Response.json(report, { status: 201 });
  },
  // For a demo, in memory. It keeps keys for a day, which src/handlers.ts declares.
  { store: memoryStore() },
);

const app = new Hono();
app.get('/api/reports', (c) => c.json(reports));
app.post('/api/reports', (c) => addReport(c.req.raw));
app.use(serveStatic({ root: './dist' }));

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000) });
