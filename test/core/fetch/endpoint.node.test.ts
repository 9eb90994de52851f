import { expect, test } from 'vitest';
import { endpointOf } from '../../../src/core/fetch/endpoint.ts';

test.each([
  ['https://api.example/orders', 'GET /orders'],
  ['https://api.example/orders/', 'GET /orders/'],
  ['https://api.example', 'GET /'],
  ['/orders?page=2#top', 'GET /orders'],
  ['orders/17', 'GET orders/:id'],
  ['/orders/17/items/3', 'GET /orders/:id/items/:id'],
  ['/users/9f1c3a52-7f0e-4a51-8c59-0a4f6c7b9d10', 'GET /users/:id'],
  ['/commits/9fceb02d0ae598e95dc970b74767f19372d61af8', 'GET /commits/:id'],
  ['/u/01ARZ3NDEKTSV4RRFFQ69G5FAV', 'GET /u/:id'],
  ['/files/dGhpcyBpcyBhIGZpbGUgMQ9x==', 'GET /files/:id'],
  ['/days/2026-11-22', 'GET /days/:id'],
  ['/batch/1,2,3', 'GET /batch/:id'],
  ['/v1/orders', 'GET /v1/orders'],
  ['/deadbeef/facade', 'GET /deadbeef/facade'],
  ['/customer-relationships', 'GET /customer-relationships'],
  ['//cdn.example/a/1', 'GET /a/:id'],
  ['/%7Eme/%31%37', 'GET /~me/:id'],
  ['/a%2fb', 'GET /a%2Fb'],
  ['/commits/9fceb02d', 'GET /commits/:id'],
  ['/commits/9fceb02', 'GET /commits/9fceb02'],
  ['/offsets/-17', 'GET /offsets/:id'],
  ['/proxy/https://cdn.example/a', 'GET /proxy/https://cdn.example/a'],
  ['/lists/data:all', 'GET /lists/data:all'],
  ['data:text/plain,a/secret', 'GET /'],
  ['blob:https://app.example/9f1c3a52', 'GET /'],
])('GET %s is %s', (url, endpoint) => {
  expect(endpointOf('GET', url)).toBe(endpoint);
});

test('another method is another endpoint', () => {
  expect(endpointOf('POST', '/orders/17')).toBe('POST /orders/:id');
});
