// The shop behind each of the middlewares: it is copied beside them, into the folder where they are installed.
let placed = 0;

/** How many orders have been placed. */
export const count = () => placed;

export const userOf = (authorization) => /^Bearer (\w+)-/.exec(authorization ?? '')?.[1];

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Places an order; what goes wrong is asked for by a header. */
export async function place(body, wanted) {
  await wait(wanted === 'slow' ? 200 : 3);
  if (wanted === 'refuse') return { status: 404, body: { error: 'no such article' } };
  if (wanted === 'fail') throw new Error('the warehouse is down');
  if (!body?.article) return { status: 400, body: { error: 'no article' } };
  placed += 1;
  return { status: 201, location: `/orders/${placed}`, body: { id: placed, ...body } };
}

/** Says where the server listens. */
export function announce(server) {
  console.log(`http://127.0.0.1:${server.address().port}/orders`);
}
