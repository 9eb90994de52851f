import express from 'express';
import { getSharedIdempotencyService, idempotency } from 'express-idempotency';
import { announce, count, place, userOf } from './shop.mjs';

const app = express();
app.get('/count', (_, response) => response.json(count()));
app.use(express.json());
app.use((request, response, next) =>
  userOf(request.get('authorization')) ? next() : response.status(401).json({ error: 'user' }),
);
app.use(idempotency());
const serve = async (request, response) => {
  const service = getSharedIdempotencyService();
  if (service.isHit(request)) return;
  try {
    const answer = await place(request.body, request.get('x-test'));
    if (answer.location) response.location(answer.location);
    response.status(answer.status).json(answer.body);
  } catch (error) {
    // As its README says.
    await service.reportError(request);
    response.status(500).json({ error: error.message });
  }
};
app.all(['/orders', '/invoices'], (request, response) => void serve(request, response));
const server = app.listen(0, '127.0.0.1', () => announce(server));
