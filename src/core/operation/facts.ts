import type { Admission } from '../origin/admission.ts';
import type { Target } from '../origin/ask.ts';
import type { Decision } from '../policy/decide.ts';
import type { PolicyOptions } from '../policy/options.ts';
import type { Failure } from '../policy/outcome.ts';
import type { Effect } from './parts/effects.ts';
import type { Write } from './write-order.ts';

/** Turns an error of ours into an error of the client that sent the request. */
export type ErrorMaker = (error: unknown) => unknown;

/** The known facts of a request: all of them if it is ours, almost nothing if another client sent it. */
export interface RequestFacts {
  /** In upper case. */
  readonly method?: string | undefined;
  /** As it was passed. */
  readonly url?: string | undefined;
  /** True if the request carries an idempotency key that its API is declared to honour. */
  readonly keyed?: boolean | undefined;
  /** Declared to be idempotent, whatever its method. */
  readonly idempotent?: boolean | undefined;
  /** The API of the request; `isKeyless` if that is declared to take no idempotency keys. */
  readonly api?: { readonly isKeyless?: boolean } | undefined;
  /** The policies of the API and of the call. */
  readonly apiPolicy?: PolicyOptions | undefined;
  readonly callPolicy?: PolicyOptions | undefined;
  readonly toClientError?: ErrorMaker | undefined;
  /** The place of the request among the writes; undefined for a read. */
  readonly write?: Pick<Write, 'obstacle'> | undefined;
}

/** A request of ours, in enough detail to wait for the admission of the next one. */
export interface SentRequest extends RequestFacts, Target {
  readonly method: string;
  /** Method and URL. */
  readonly name: string;
  /** Where it was sent, or waits; undefined before. */
  readonly admission?: Admission | undefined;
}

/** The answer behind another client's error. */
export interface ForeignAnswer {
  readonly headers?: { get?: (name: string) => string | null } & Record<string, unknown>;
}

/** A failure with its context. */
export interface FailureReport {
  readonly failure: Failure;
  /** The request that has failed. */
  readonly request?: RequestFacts | undefined;
  /** The operation that the request belongs to. `operationOf` reads it. */
  readonly operation?: object | undefined;
  /** Set if the request ended before it was sent: `aborted` by its caller, `dropped` by Steadfetch. */
  readonly unsent?: 'aborted' | 'dropped' | undefined;
  /** The effect that the request may have had at the server, once sent. */
  readonly effect?: Effect | undefined;
  /** For another client's error: the answer that was found in it. */
  readonly answer?: ForeignAnswer | undefined;
  /** The decision about it. */
  readonly decision?: Decision | undefined;
}
