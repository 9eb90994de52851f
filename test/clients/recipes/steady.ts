import { type Clock, createSteadfetch, defineIdempotency } from 'steadfetch';
import { systemClock } from '../../../src/core/lib/clock.ts';
import { graphql } from './graphql-outcomes.ts';

/** Where https://api.example is, in the tests. */
export const server = { origin: '' };

const timeoutMs = 123_456;
const limits = new Map<unknown, () => void>();

/** Ends the time limits that run, as if their time had come. */
export function expire(): void {
  for (const end of limits.values()) end();
}

const clock: Clock = {
  ...systemClock,
  setTimeout(callback, delayMs) {
    const handle = systemClock.setTimeout(callback, delayMs);
    if (delayMs === timeoutMs) limits.set(handle, callback);
    return handle;
  },
  clearTimeout(handle) {
    limits.delete(handle);
    systemClock.clearTimeout(handle);
  },
};

const idempotency = defineIdempotency({ header: 'Idempotency-Key', format: 'raw' });

export const steady = createSteadfetch({
  apis: [
    { ...graphql, idempotency },
    { match: 'https://api.example', idempotency },
  ],
  policy: { baseMs: 0, capMs: 0, timeout: timeoutMs },
  random: () => 0,
  clock,
  async fetch(input, init) {
    const request = new Request(input, init);
    const { method, headers, signal } = request;
    const body = request.body ? await request.arrayBuffer() : null;
    const url = request.url.replace('https://api.example', server.origin);
    return fetch(url, { method, headers, signal, body });
  },
});
