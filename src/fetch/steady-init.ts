import type { Timeout, PolicyOptions } from '../policy/options.ts';
import type { KeyedInit } from './keys.ts';

/** What `steady.fetch` takes besides fetch's own init. */
export interface SteadyInit extends KeyedInit {
  /** The time limit of this attempt. @default that of the policy */
  readonly timeout?: Timeout | undefined;
  /** Sending this again does no harm, whatever its method: a search sent by POST. @default false */
  readonly idempotent?: boolean | undefined;
  /** How a failure of this call is answered by whoever owns the retries. */
  readonly policy?: PolicyOptions | undefined;
}
