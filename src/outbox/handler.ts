import type { SteadyFetch } from '../fetch/create-fetch.ts';
import type { SteadyJson } from '../fetch/json.ts';
import type { PolicyOptions } from '../policy/options.ts';

/** What a handler is told, beside the variables. */
export interface OutboxContext {
  /** `steady.fetch` for this entry: what it sends is part of it, also after an await. */
  readonly fetch: SteadyFetch;
  /** `steady.json` for this entry. */
  readonly json: SteadyJson;
  /** The same on every attempt, in whatever tab. */
  readonly idempotencyKey: string;
  /** Counted from 1, over all tabs and reloads. */
  readonly attempt: number;
  /** Aborted when the entry is discarded. `fetch` and `json` have it already. */
  readonly signal: AbortSignal;
}

/** A policy for entries of an outbox, whose waits outlive the page. */
export type OutboxPolicy = Omit<PolicyOptions, 'maxRetries' | 'deadlineMs'>;

/** How entries of one name are delivered: by any tab, also after a reload, without the component. */
export interface OutboxHandler<TVariables = never, TData = unknown> {
  /**
   * Sends it: runs once for each attempt. Whatever identifies the user is read here, when it is
   * sent: nothing of it is stored.
   */
  readonly mutationFn: (variables: TVariables, context: OutboxContext) => Promise<TData>;
  /**
   * How its failures are answered. There is no end of retries and no deadline: see `maxAttempts` and
   * `maxAgeMs`. @default 10 s for an attempt, full jitter from 1 s to 5 minutes
   */
  readonly policy?: OutboxPolicy | undefined;
  /** Whatever it sends may be done twice: it is sent again without a key, too. @default false */
  readonly idempotent?: boolean | undefined;
  /** Entries with the same scope are delivered one after the other, the oldest first. @default none */
  readonly scope?: string | ((variables: NoInfer<TVariables>) => string | undefined) | undefined;
  /**
   * What becomes of a scope whose oldest entry is dead: the others wait until a user has decided,
   * or pass it. @default 'block'
   */
  readonly onDead?: 'block' | 'pass' | undefined;
  /** That of the variables: count it up when their shape changes. @default 1 */
  readonly version?: number | undefined;
  /**
   * Turns the variables of an earlier version into those of this one, for each attempt and for whoever
   * looks at the entry: what is kept stays as it is. Where it throws, or is left out, they are dead
   * letters until a later version can. @default none
   */
  readonly migrate?: ((variables: unknown, version: number) => NoInfer<TVariables>) | undefined;
  /** A user is asked after so many attempts. @default Infinity */
  readonly maxAttempts?: number | undefined;
  /** A user is asked after so long, in milliseconds. @default Infinity */
  readonly maxAgeMs?: number | undefined;
}
