import { createSteadfetch } from 'steadfetch';
import { graphql } from './graphql-outcomes.ts';

/** Where https://api.example is, in the tests. */
export const server = { origin: '' };

export const steady = createSteadfetch({
  apis: [graphql],
  policy: { baseMs: 0, capMs: 0 },
  random: () => 0,
  async fetch(input, init) {
    const request = new Request(input, init);
    const { method, headers, signal } = request;
    const body = request.body ? await request.arrayBuffer() : null;
    const url = request.url.replace('https://api.example', server.origin);
    return fetch(url, { method, headers, signal, body });
  },
});
