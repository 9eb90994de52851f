import { inDevelopment } from '../lib/development.ts';
import type { Slot } from '../lib/slot.ts';
import { untilAborted } from '../lib/timer.ts';
import type { OperationRef } from '../policy/operation.ts';
import type { AttemptLimit, Environment, Waiting } from './environment.ts';
import { Operation } from './operation.ts';
import type { OperationInit } from './owner.ts';
import type { Submission } from './parts/submission.ts';
import { type Live, Session } from './parts/session.ts';
import { startAttempt, warnOfLoop } from './warn-of-loop.ts';

/** The operation that a signal belongs to: this link survives an await. */
export type Signals = Slot<AbortSignal, Operation>;

/** A `mutationOptions` mutation whose mutationFn is running. */
export interface Execution {
  readonly submission: Submission;
  readonly operation: Operation;
  /** No request of it is in flight: it may be about to send one. */
  readonly isIdle: () => boolean;
}

interface AttemptOptions {
  readonly signal?: AbortSignal | undefined;
  /** @default that of the operation, if it has one */
  readonly limit?: Pick<AttemptLimit, 'race'> | undefined;
  /** Called on failure, before any code that awaits the attempt continues. */
  readonly onFail?: (error: unknown) => void;
}

/** A request that has ended. */
interface Ended {
  readonly operation: Operation;
  readonly isLoneWrite: boolean;
}

/** Creates the operations of an instance, and runs their attempts. */
export class Operations {
  /** The operation whose attempt is on the call stack now. */
  current: Operation | undefined;
  /** The operations that our own loop retries. */
  readonly loops: Set<Operation> = new Set();
  /** The running mutations of ours. A request without an operation may belong to one of them. */
  readonly executions: Set<Execution> = new Set();
  /** The queries whose queryFn is running. */
  readonly #queries: Set<Operation> = new Set();
  /** Everything that is paused, or waits for its next attempt in our own loop. */
  readonly waits: Set<Waiting> = new Set();
  /** The requests before their answers, and the runs of `retry`. */
  readonly live: Set<Live> = new Set();
  /** The present session. Operations that begin now end with it. */
  session: Session = new Session();
  /** The id of the newest one. */
  lastId = 0;
  /** The id of the newest lone request that may have been done, and must not be done twice. */
  lastWriteId = 0;
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  begin(
    kind: OperationRef['kind'],
    init: OperationInit = {},
    queryKey?: readonly unknown[],
  ): Operation {
    const startedAt = this.#environment.clock.now();
    const ref = { id: ++this.lastId, kind, startedAt, queryKey };
    return new Operation(this.#environment, ref, init, this.session);
  }

  /** A request has ended. A lone one that must not be done twice may have been done. */
  recordWrite({ isLoneWrite, operation: { ref, effects } }: Ended): void {
    if (isLoneWrite && effects.hasAny()) this.lastWriteId = Math.max(this.lastWriteId, ref.id);
  }

  /**
   * Whether another lone request that must not be done twice is under way, or was sent after this operation. A plain
   * mutation is then not sent again, because that request may be a part of it.
   */
  hasOtherWrite(own: Operation): boolean {
    if (this.lastWriteId > own.ref.id) return true;
    const isOther = (one: Live & Partial<Ended>): boolean =>
      !!one.isLoneWrite && one.operation !== own;
    return [...this.live].some(isOther);
  }

  /** Whether a queryFn is running whose requests are not known: a lone one may be of it. */
  hasUnlinkedQuery(): boolean {
    for (const query of this.#queries) {
      // A queryFn may never settle.
      if (query.phase.kind === 'ended') this.#queries.delete(query);
      else if (query.open === 0) return true;
    }
    return false;
  }

  /** Another session begins: nothing that was begun before is sent any more. */
  endSession(): void {
    const { current } = this;
    this.session.end();
    this.session = new Session();
    // The log-out itself, which ends the session, goes on.
    current?.join(this.session);
    for (const one of this.live) one.endSession();
    for (const wait of this.waits) wait.drop();
  }

  /** Makes an operation the current one while its attempt is on the stack. @returns the one before. */
  makeCurrent(operation: Operation | undefined): Operation | undefined {
    const outer = this.current;
    this.current = operation;
    return outer;
  }

  /**
   * Runs one attempt: calls a queryFn, a mutationFn, an outbox handler, or the function given to `retry`. Its
   * operation is the current one until the function first awaits; after that, the signal is the link. The end
   * is emitted before any code that awaits the attempt continues, and a success ends the operation.
   *
   * Settles with the function's promise. Rejects as soon as the attempt's time limit is over or the signal is
   * aborted, in that case with the abort reason.
   *
   * Calls the function directly, not through a wrapper: each caller adds a frame to the stack of every error
   * created inside, and a frame costs about a microsecond.
   */
  run<T, Given extends readonly unknown[]>(
    operation: Operation,
    run: (...given: Given) => T | Promise<T>,
    given: Given,
    { signal, limit = operation.attemptLimit, onFail }: AttemptOptions,
  ): Promise<T> {
    const { emitter } = this.#environment;
    inDevelopment(() => startAttempt(emitter, operation));
    if (emitter.isHeard) operation.emit({ type: 'attempt:start' });
    const outer = this.current;
    this.current = operation;
    if (operation.ref.kind === 'query') this.#queries.add(operation);
    let called: Promise<T>;
    try {
      const { enter } = emitter;
      called = Promise.resolve(
        enter ? enter(operation.ref.id, undefined, () => run(...given)) : run(...given),
      );
    } catch (error) {
      called = Promise.reject(error);
    } finally {
      this.current = outer;
    }
    const raced = limit ? limit.race(called) : called;
    const begun = untilAborted(signal, raced);
    void begun.then(
      () => this.#succeed(operation),
      (error: unknown) => {
        this.#endAttempt(operation, error);
        onFail?.(error);
      },
    );
    return begun;
  }

  /** `error` is undefined if the attempt succeeded. */
  #endAttempt(operation: Operation, error: unknown): void {
    this.#queries.delete(operation);
    operation.emit({ type: 'attempt:end', error });
    operation.route.returnPermit();
  }

  #succeed(operation: Operation): void {
    inDevelopment(() => warnOfLoop(this.#environment.emitter, operation));
    this.#endAttempt(operation, undefined);
    operation.end('succeeded');
  }
}
