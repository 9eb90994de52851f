import type { Decision } from '../policy/decide.ts';
import type { PolicyOptions } from '../policy/options.ts';
import type { Failure } from '../policy/outcome.ts';
import type { Effect } from './parts/effects.ts';
import type { Step } from './parts/submission.ts';

/** Makes an error of ours one of the client that has sent the request. */
export type ErrorMaker = (error: unknown) => unknown;

/** What is known of a request that was sent: enough to wait for admission of the next one. */
export interface SentRequest {
  readonly name: string;
  /** The endpoint that it went to, and what a Retry-After of its answer speaks for. */
  readonly endpoint: string;
  readonly limitScope: string;
  readonly method: string;
  readonly keyed: boolean;
  readonly idempotent?: boolean | undefined;
  readonly apiPolicy?: PolicyOptions | undefined;
  readonly callPolicy?: PolicyOptions | undefined;
  readonly toClientError?: ErrorMaker | undefined;
}

/** What is known of a request: all of it of ours, next to nothing of another client's. */
export interface RequestFacts {
  /** In upper case. */
  readonly method?: string;
  /** As it was passed. */
  readonly url?: string;
  /** It carries an idempotency key that its API is declared to honour. */
  readonly keyed?: boolean;
  /** Declared to be idempotent, whatever its method. */
  readonly idempotent?: boolean | undefined;
  /** The policies of the API and of the call. */
  readonly apiPolicy?: PolicyOptions | undefined;
  readonly callPolicy?: PolicyOptions | undefined;
  readonly toClientError?: ErrorMaker | undefined;
  /** The operation that the request is part of: `operationOf` reads it. */
  readonly operation?: object | undefined;
  /** What it is one attempt of, where it has a key. */
  readonly step?: Step | undefined;
  /** What it may do at the server, once it was sent. */
  readonly effect?: Effect | undefined;
}

/** The answer that another client's error is about. */
export interface ForeignAnswer {
  readonly headers?: { get?: (name: string) => string | null } & Record<string, unknown>;
}

/** A failure, and what is known of its request. */
export interface FailureReport extends RequestFacts {
  failure: Failure;
  operation?: object | undefined;
  /** Of another client's error: what it was read from. */
  readonly answer?: ForeignAnswer | undefined;
  /** What was decided about it. */
  decision?: Decision | undefined;
  /** Of the operations that have failed with this error: the one that React Query has asked about last. */
  latest?: object | undefined;
  /** Where there are several: those that it has not asked about, in order. */
  queue?: ReadonlySet<object> | undefined;
}
