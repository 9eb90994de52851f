import { expect, test, vi } from 'vitest';
import type { ApiProfile } from '../../../src/core/fetch/api.ts';
import { endpointOf, targetOf } from '../../../src/core/fetch/endpoint.ts';

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

const url = 'https://api.example/orders/17?page=2';
const [endpoint, resource] = ['GET /orders/:id', `GET ${url}`];

test.each<[string, Partial<ApiProfile> | undefined, object]>([
  ['of no API', undefined, { endpoint, resource, limitScope: endpoint }],
  ['of an API', {}, { endpoint, resource, limitScope: endpoint }],
  [
    'of an API with one limit',
    { limitsApplyTo: 'api' },
    { endpoint, resource, limitScope: 'api /orders/' },
  ],
  [
    'of an API with a limit for each endpoint',
    { limitsApplyTo: 'endpoint' },
    { endpoint, resource, limitScope: endpoint },
  ],
  ['of a partition', { partition: 'a' }, { endpoint, resource, limitScope: 'api /orders/' }],
  [
    'of an API that names its endpoint',
    { endpoint: 'search' },
    { endpoint: 'search', resource: 'search', limitScope: 'search' },
  ],
  [
    'of an API that makes a name of it',
    { endpoint: (method, { searchParams }) => `${method} page ${searchParams.get('page')}` },
    { endpoint: 'GET page 2', resource: 'GET page 2', limitScope: 'GET page 2' },
  ],
  ['of an API that has no name for it', { endpoint: () => '' }, { endpoint, resource }],
  [
    'of an API that gives none',
    { endpoint: () => undefined as never },
    { endpoint, resource, limitScope: endpoint },
  ],
])('a request %s counts for its endpoint, its resource and its limit', (_, api, target) => {
  vi.spyOn(console, 'error').mockReturnValue();
  expect(targetOf('GET', url, api && { match: '/orders/', ...api })).toMatchObject(target);
});
