import { notifyApp } from '../lib/input/callback.ts';
import type { Decision } from '../policy/decide.ts';
import type { OperationRef } from '../policy/operation.ts';
import type { Failure, Outcome, PauseReason } from '../policy/outcome.ts';

/** How an operation ended. */
export type OperationResult =
  | 'succeeded'
  | 'failed'
  /** Cancelled by the user, or aborted by the caller. */
  | 'cancelled'
  /** A newer fetch of the same query took its place. */
  | 'superseded';

interface EventBase {
  /** When it happened, in epoch milliseconds. */
  readonly at: number;
  readonly operation: OperationRef;
}

/**
 * The event stream, in order. Each event has its `type`, `at` (in epoch milliseconds) and `operation`.
 * Queries, `mutationOptions`, `retry` and the outbox show whole operations: one that starts also ends, once.
 * A plain mutation shows its requests and decisions, and a lone `steady.fetch` its request.
 *
 * An operation that has ended is silent: requests that are still in flight, cancelled or superseded, emit
 * nothing more.
 */
export type SteadfetchEvent =
  /** An operation begins. */
  | (EventBase & { readonly type: 'operation:start' })
  /** A run of the queryFn, or of the function given to `retry`, begins. */
  | (EventBase & { readonly type: 'attempt:start' })
  /** An attempt waits before it is sent. Emitted again when the reason or the time changes. */
  | (EventBase & {
      readonly type: 'pause:start';
      readonly reason: PauseReason;
      readonly retryAt: number | undefined;
      readonly probedBy?: 'another-tab' | undefined;
    })
  /**
   * The pause is over: the attempt is sent (`probe`: as the probe of something down), `maxPauseMs` is over,
   * or the result is no longer wanted.
   */
  | (EventBase & {
      readonly type: 'pause:end';
      readonly result: 'sent' | 'probe' | 'expired' | 'dropped';
    })
  /** A request is sent. */
  | (EventBase & {
      readonly type: 'request:start';
      readonly request: number;
      readonly method: string;
      readonly url: string;
      readonly endpoint: string;
    })
  /** The headers of a request arrived, or it failed. A body that fails afterwards ends the request a second time. */
  | (EventBase & {
      readonly type: 'request:end';
      readonly request: number;
      readonly method: string;
      readonly url: string;
      readonly endpoint: string;
      readonly outcome: Outcome;
    })
  /** The run has ended; `error` is undefined if it succeeded. */
  | (EventBase & { readonly type: 'attempt:end'; readonly error: unknown })
  /** A decision was made about a failure. If another client sent the request, only the error is known. */
  | (EventBase & {
      readonly type: 'decision';
      readonly failure: Failure;
      readonly decision: Decision;
      readonly maxRetries: number;
      readonly error: unknown;
      readonly method: string | undefined;
      readonly url: string | undefined;
    })
  /** The operation ended; `result` says how. */
  | (EventBase & { readonly type: 'operation:end'; readonly result: OperationResult });

/** How a pause ended. */
export type PauseResult = Extract<SteadfetchEvent, { readonly type: 'pause:end' }>['result'];

/** An event without the fields that every event has. */
export type EventDetail = SteadfetchEvent extends infer E
  ? E extends SteadfetchEvent
    ? Omit<E, keyof EventBase>
    : never
  : never;

/** Receives every event, synchronously. What it throws is reported (`reportError`) and has no other effect. */
export type Listener = (event: SteadfetchEvent) => void;

/**
 * Runs what an operation has run, and returns what that returns: with `request`, what sends this request of it;
 * without, the app's own function of an attempt.
 */
export type Enter = <T>(operation: number, request: number | undefined, run: () => T) => T;

/** Emits the events of an instance to its listeners. */
export class Emitter {
  /** Without a listener no event object is created. */
  isHeard = false;
  /** Undefined while no listener has a context of its own. */
  enter: Enter | undefined;
  readonly #listeners: Map<Listener, Enter | undefined> = new Map();

  /**
   * @param enter - Puts what is run into the listener's own context, such as that of a trace.
   * @returns A function that ends the subscription.
   */
  subscribe(listener: Listener, enter?: Enter): () => void {
    const listeners = this.#listeners;
    const update = (): void => {
      this.isHeard = listeners.size > 0;
      this.enter = undefined;
      for (const next of listeners.values()) this.enter = nest(this.enter, next);
    };
    listeners.set(listener, enter);
    update();
    return () => {
      listeners.delete(listener);
      update();
    };
  }

  emit(event: SteadfetchEvent): void {
    for (const listener of this.#listeners.keys()) notifyApp(listener, event);
  }
}

const nest = (outer: Enter | undefined, inner: Enter | undefined): Enter | undefined =>
  outer && inner
    ? (operation, request, run) => outer(operation, request, () => inner(operation, request, run))
    : (outer ?? inner);
