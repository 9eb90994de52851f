import type { Decision } from '../../policy/decide.ts';
import {
  isIdempotentMethod,
  type Operation as OperationView,
  type OperationRef,
  type RetryReason,
} from '../../policy/operation.ts';
import type { RequestFacts } from '../facts.ts';
import { usualMethod } from './known-errors.ts';
import { none } from './pauses.ts';

/** The failed attempts of an operation: how the latest has failed, and which retries were granted. */
export class Failures {
  #trials = 0;
  #retriedFor: readonly RetryReason[] = none;
  #previousBackoffMs: number | undefined;
  #decision: Decision | undefined;
  #lastError: unknown;
  #failedAt: number | undefined;
  #dueAt: number | undefined;

  /** Those that were trials of their origin: they use up no retries. */
  get trials(): number {
    return this.#trials;
  }
  /** The latest decision; undefined while the latest failure waits for one. */
  get decision(): Decision | undefined {
    return this.#decision;
  }
  get lastError(): unknown {
    return this.#lastError;
  }
  /** When the latest failed that React Query is asked about, in epoch milliseconds. */
  get failedAt(): number | undefined {
    return this.#failedAt;
  }
  /** When React Query, which was told to wait so long, goes on, in epoch milliseconds. */
  get dueAt(): number | undefined {
    return this.#dueAt;
  }

  /** An attempt has failed, and what follows is asked for later; `decision`: what was decided about it already. */
  recordError(error: unknown, nowMs: number, decision: Decision | undefined): void {
    this.recordDecision(error, decision);
    this.#failedAt = nowMs;
  }

  recordDecision(error: unknown, decision: Decision | undefined): void {
    this.#decision = decision;
    this.#lastError = error;
  }

  /** A retry was granted: the next decision builds on it. */
  grantRetry({ reason, backoffMs }: Extract<Decision, { kind: 'retry' }>): void {
    this.#retriedFor = this.#retriedFor.concat(reason);
    this.#previousBackoffMs = backoffMs;
  }

  recordTrial(): void {
    this.#trials++;
  }

  /** It has got on in this attempt: no retry before it counts. */
  forgetBefore(attempt: number): void {
    this.#trials = attempt - 1;
    this.#retriedFor = none;
    this.#previousBackoffMs = undefined;
  }

  /** React Query waits until then. */
  waitUntil(dueAt: number): void {
    this.#dueAt = dueAt;
  }

  /** Those of an operation elsewhere, which does all that this one does; what is undefined stays. */
  mirror(decision: Decision | undefined, lastError: unknown): void {
    this.#decision = decision ?? this.#decision;
    this.#lastError = lastError ?? this.#lastError;
  }

  /** The operation as the policy, `shouldRetry` and errors see it: a value that no longer changes. */
  view(
    { id, kind, startedAt, queryKey }: Omit<OperationRef, 'attempt'>,
    attempt: number,
    isIdempotent: boolean | undefined,
    since: Pick<OperationView, 'progressedAt' | 'pausedMs'>,
    { method, url, keyed = false, idempotent }: RequestFacts,
  ): OperationView {
    const known = method ?? usualMethod(kind);
    // Written out: it is made for every failure, and a spread takes several times as long.
    return {
      id,
      kind,
      startedAt,
      queryKey,
      attempt,
      trials: this.#trials,
      method: known,
      url,
      keyed,
      idempotent: !!(isIdempotent || idempotent) || isIdempotentMethod(known),
      retriedFor: this.#retriedFor,
      previousBackoffMs: this.#previousBackoffMs,
      progressedAt: since.progressedAt,
      pausedMs: since.pausedMs,
    };
  }
}

/** What is read of them. */
export type KnownFailures = Pick<
  Failures,
  'trials' | 'decision' | 'lastError' | 'failedAt' | 'dueAt' | 'view'
>;

/** Those of an operation that has had none: most have none, and share this one. */
export const noFailures: KnownFailures = new Failures();
