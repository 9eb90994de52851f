import { inDevelopment } from '../lib/development.ts';
import { readPassed } from '../operation/error-info.ts';
import type { SteadyFetch } from './send.ts';
import { readJson } from './attempt/guard.ts';
import {
  type JsonSteadyInit,
  inGivenForm,
  mistake,
  readHeaders,
  readInit,
  requestOf,
  type SteadyInit,
} from './init.ts';

/** The options of `steady.json` besides the init of `steady.fetch`. */
export interface JsonInit extends SteadyInit {
  /**
   * Sent as the JSON body, with its content type; the method is POST unless it is given.
   *
   * @default none
   * @throws TypeError when it is there and JSON cannot express it, as `undefined` and functions.
   */
  readonly json?: unknown;
}

/**
 * Sends and reads JSON within one attempt. A good answer without content, whatever its status, is `null`.
 *
 * @throws what `steady.fetch` throws; an `UnexpectedContentError` when the answer neither is JSON nor
 * says so, as the page of a captive portal does (see `expect`); a SyntaxError when the body is not JSON; a TypeError when
 * `json` cannot be written as JSON, or is given beside `body`.
 *
 * @example
 * ```ts
 * const order = await steady.json<{ id: string }>('/api/orders', { json: { sku: 'kite', count: 1 } });
 * ```
 */
export type SteadyJson = <T = unknown>(input: RequestInfo | URL, init?: JsonInit) => Promise<T>;

/** Makes a `steady.json` of a `steady.fetch`. */
export function createJson(fetch: SteadyFetch): SteadyJson {
  return async <T>(input: RequestInfo | URL, init?: JsonInit): Promise<T> => {
    const sent: JsonSteadyInit = {
      ...readPassed(() => withJson(input, readInit('steady.json', init))),
      defaultExpect: 'json',
    };
    const response = await fetch(input, sent);
    return (await readJson(response)) as T;
  };
}

function withJson(input: RequestInfo | URL, given: JsonInit): SteadyInit {
  if (!('json' in given)) return given;
  const { json, ...init } = given;
  const body = JSON.stringify(json) as string | undefined;
  if (body === undefined) {
    const rule = inDevelopment(
      () =>
        `is ${json === undefined ? 'undefined' : `a ${typeof json}`}, which JSON cannot express. Leave json out to send none`,
    );
    throw mistake('steady.json: json', rule);
  }
  if (init.body != null)
    throw mistake(
      'steady.json:',
      inDevelopment(() => 'give either json or body, not both'),
    );
  const passed = requestOf(input);
  const headers = readHeaders(passed, init);
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return {
    method: passed?.method ?? 'POST',
    ...init,
    headers: inGivenForm(init.headers, headers),
    body,
  };
}
