import type { Decision } from '../policy/decide.ts';
import type { PolicyOptions } from '../policy/options.ts';
import type { Failure } from '../policy/outcome.ts';
import type { Effect } from './parts/effects.ts';

/** Makes an error of ours one of the client that has sent the request. */
export type ErrorMaker = (error: unknown) => unknown;

/** What is known of a request: all of it of ours, next to nothing of another client's. */
export interface RequestFacts {
  /** In upper case. */
  readonly method?: string | undefined;
  /** As it was passed. */
  readonly url?: string | undefined;
  /** It carries an idempotency key that its API is declared to honour. */
  readonly keyed?: boolean | undefined;
  /** Declared to be idempotent, whatever its method. */
  readonly idempotent?: boolean | undefined;
  /** The policies of the API and of the call. */
  /** Its API; `isKeyless`: it is declared to take no idempotency keys. */
  readonly api?: { readonly isKeyless?: boolean } | undefined;
  readonly apiPolicy?: PolicyOptions | undefined;
  readonly callPolicy?: PolicyOptions | undefined;
  readonly toClientError?: ErrorMaker | undefined;
}

/** What is known of a request of ours: enough to wait for the admission of the next one. */
export interface SentRequest extends RequestFacts {
  readonly method: string;
  /** Method and URL. */
  readonly name: string;
  /** The unit of health that it counts for. */
  readonly endpoint: string;
  /** The requests that a Retry-After of its answer speaks for. */
  readonly limitScope: string;
  /** Sending it twice does no harm. */
  readonly isRepeatable: boolean;
  /** 0: it only reads. 1: it may be sent twice. 2: neither. */
  readonly risk: 0 | 1 | 2;
}

/** The answer that another client's error is about. */
export interface ForeignAnswer {
  readonly headers?: { get?: (name: string) => string | null } & Record<string, unknown>;
}

/** A failure, and what is known of it. */
export interface FailureReport {
  failure: Failure;
  /** The request that has failed. */
  readonly request?: RequestFacts | undefined;
  /** The operation that the request is part of: `operationOf` reads it. */
  operation?: object | undefined;
  /** It was aborted before it was sent: by its caller, or we have dropped it. */
  readonly unsent?: 'aborted' | 'dropped' | undefined;
  /** What the request may have done at the server, once it was sent. */
  readonly effect?: Effect | undefined;
  /** Of another client's error: what it was read from. */
  readonly answer?: ForeignAnswer | undefined;
  /** What was decided about it. */
  decision?: Decision | undefined;
}
