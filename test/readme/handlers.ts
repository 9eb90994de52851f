import { http } from 'msw';
import { failTimes, rateLimited } from 'steadfetch/testing';

const overloaded = failTimes(2, 503);
export const handlers = [
  http.get('/api/products', overloaded),
  http.get('/api/orders', rateLimited({ retryAfterSeconds: 5, as: 'date' })),
];
export const requestsSeen = () => overloaded.requestCount;
