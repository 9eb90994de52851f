import type { SteadyFetch } from './create-fetch.ts';
import { readHeaders, readParts } from './request-parts.ts';
import type { SteadyInit } from './steady-init.ts';

/** What `steady.json` takes besides the init of `steady.fetch`. */
export interface JsonInit extends SteadyInit {
  /** Sent as the JSON body, with its content type; the method is POST unless it is given. */
  readonly json?: unknown;
}

/**
 * Sends and reads JSON within one attempt. An answer without content (204, 205) is `null`.
 *
 * @throws what `steady.fetch` throws; a SyntaxError when the body is not JSON; a TypeError when
 * `json` cannot be written as JSON, or is given beside `body`.
 *
 * @example
 * ```ts
 * const order = await steady.json<{ id: string }>('/api/orders', { json: { sku: 'kite', count: 1 } });
 * ```
 */
export type SteadyJson = <T = unknown>(input: RequestInfo | URL, init?: JsonInit) => Promise<T>;

export function createJson(fetch: SteadyFetch): SteadyJson {
  return async <T>(input: RequestInfo | URL, init?: JsonInit): Promise<T> => {
    const response = await fetch(input, withJson(input, init ?? {}));
    if (response.status === 204 || response.status === 205) return null as T;
    return (await response.json()) as T;
  };
}

function withJson(input: RequestInfo | URL, { json, ...init }: JsonInit): SteadyInit {
  if (json === undefined) return init;
  const body = JSON.stringify(json) as string | undefined;
  if (body === undefined) {
    throw new TypeError(`steady.json: json is a ${typeof json}, which JSON cannot express.`);
  }
  if (init.body) throw new TypeError('steady.json: give either json or body, not both.');
  const { request } = readParts(input, init);
  const headers = readHeaders(request, init);
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return { method: request?.method ?? 'POST', ...init, headers, body };
}
