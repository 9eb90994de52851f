import type { PolicyOptions, Timeout } from '../policy/options.ts';
import type { Expected } from './expected-content.ts';
import type { KeyedInit } from './keyed-init.ts';

/** What `steady.fetch` takes besides fetch's own init. */
export interface SteadyInit extends KeyedInit {
  /** The time limit of this attempt. @default that of the policy */
  readonly timeout?: Timeout | undefined;
  /** Sending this again does no harm, whatever its method: a search sent by POST. @default false */
  readonly idempotent?: boolean | undefined;
  /**
   * What a good answer must be. `json` refuses one whose content type is another than
   * `application/json`, `*+json`, `text/plain`, `application/octet-stream` or none, with an
   * `UnexpectedContentError`: something in between has answered. `any` takes every answer, for a server
   * whose content type is wrong.
   *
   * @default that of its API; else `json` for `steady.json`, and `any` for `steady.fetch`
   */
  readonly expect?: Expected | undefined;
  /** How a failure of this call is answered by whoever owns the retries. */
  readonly policy?: PolicyOptions | undefined;
}

/** What `steady.json` passes on besides. */
export interface JsonSteadyInit extends SteadyInit {
  readonly defaultExpect?: Expected | undefined;
}
