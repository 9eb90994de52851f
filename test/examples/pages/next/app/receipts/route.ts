import { idempotent, memoryStore } from 'steadfetch/server';

let receipts = 0;

export const POST = idempotent(
  async (request) => {
    const { article } = (await request.json()) as { article: string };
    receipts++;
    return Response.json({ number: receipts, article }, { status: 201 });
  },
  { store: memoryStore() },
);
