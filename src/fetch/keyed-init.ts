import type { RequestParts } from './request-parts.ts';

/** What fetch takes, and a key. */
export interface KeyedInit extends RequestInit {
  /**
   * The idempotency key of this request, sent as the profile of its API declares. It is yours: give
   * the same on every attempt, and another for what is meant anew. A header of your own comes before it.
   * Within a mutation of Steadfetch, which has a key already, it is refused: see `step`.
   *
   * @default none; within a mutation of Steadfetch, a key by itself for each POST and PATCH
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * The name of this request within a mutation of Steadfetch: its key is derived from that of the
   * mutation and the name. The first request with a key needs none; from the second on it is required.
   * Give the same name on every attempt, and another to each request.
   *
   * @default none
   *
   * @example
   * ```ts
   * const placeOrder = mutationOptions(steady, {
   *   async mutationFn(order: { sku: string }, { json }) {
   *     const { id } = await json<{ id: string }>('/api/orders', { json: order });
   *     return json<{ receipt: string }>('/api/payments', { json: { id }, step: 'pay' });
   *   },
   * });
   * ```
   */
  readonly step?: string | undefined;
}

/** What was passed to fetch. */
export interface Passed {
  readonly parts: RequestParts;
  readonly init: KeyedInit;
}
