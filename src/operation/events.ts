import { tellApp } from '../lib/input/callback.ts';
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
 * What happens, in order. Each event has its `type`, `at` (when it happened, in epoch milliseconds) and
 * `operation`. Queries, `mutationOptions`, `retry` and the outbox show whole operations: one that starts
 * also ends, once. A plain mutation shows its requests and decisions, and a lone `steady.fetch` its request.
 *
 * An operation that has ended is silent: what of it is still under way, a request that was
 * cancelled or superseded, ends with it and says no more.
 */
export type SteadfetchEvent =
  /** An operation begins. */
  | (EventBase & { readonly type: 'operation:start' })
  /** A run of the queryFn, or of the function given to `retry`, begins. */
  | (EventBase & { readonly type: 'attempt:start' })
  /** Its attempt waits before it is sent; told again when the reason or the time changes. */
  | (EventBase & {
      readonly type: 'pause:start';
      readonly reason: PauseReason;
      readonly retryAt: number | undefined;
      readonly probedBy?: 'another-tab' | undefined;
    })
  /** The pause is over: the attempt is sent (as the probe of what is down, if so), `maxPauseMs` is over, or
   * nobody wants it any more. */
  | (EventBase & {
      readonly type: 'pause:end';
      readonly result: 'sent' | 'probe' | 'expired' | 'dropped';
    })
  /** A request goes out. */
  | (EventBase & {
      readonly type: 'request:start';
      readonly request: number;
      readonly method: string;
      readonly url: string;
      readonly endpoint: string;
    })
  /** Its headers are in, or it failed; a body that fails afterwards ends it once more. */
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
  /** A failure was decided on. Of a request that another client has sent, only the error is known. */
  | (EventBase & {
      readonly type: 'decision';
      readonly failure: Failure;
      readonly decision: Decision;
      readonly maxRetries: number;
      readonly error: unknown;
      readonly method: string | undefined;
      readonly url: string | undefined;
    })
  /** The operation `succeeded`, `failed`, was `cancelled`, or was `superseded` by a newer fetch of the same query. */
  | (EventBase & { readonly type: 'operation:end'; readonly result: OperationResult });

/** How a pause ended. */
export type PauseResult = Extract<SteadfetchEvent, { readonly type: 'pause:end' }>['result'];

/** The event without what every event has. */
export type EventDetail = SteadfetchEvent extends infer E
  ? E extends SteadfetchEvent
    ? Omit<E, keyof EventBase>
    : never
  : never;

/** Is told of every event, synchronously. What it throws is reported (`reportError`) and disturbs nothing. */
export type Listener = (event: SteadfetchEvent) => void;

/**
 * Runs what an operation has run, and returns what that returns: with `request`, what sends this request of it;
 * without, the app's own function of an attempt.
 */
export type Enter = <T>(operation: number, request: number | undefined, run: () => T) => T;

/** Emits the events of an instance to its listeners. */
export class Emitter {
  /** Without a listener no event is made. */
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
    for (const listener of this.#listeners.keys()) tellApp(listener, event);
  }
}

const nest = (outer: Enter | undefined, inner: Enter | undefined): Enter | undefined =>
  outer && inner
    ? (operation, request, run) => outer(operation, request, () => inner(operation, request, run))
    : (outer ?? inner);
