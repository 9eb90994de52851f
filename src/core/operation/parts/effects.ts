import { isSafeMethod } from '../../policy/operation.ts';
import type { Processed } from '../../policy/outcome.ts';
import type { Submission, Step } from './submission.ts';

/** A request of an operation that may have reached the server, and taken effect there. */
export class Effect {
  /** Method and URL. */
  readonly request: string;
  /** The idempotency key that it carries. Requests with one key take effect once. */
  readonly key: string | undefined;
  /**
   * Safe by its method (RFC 9110 §9.2.1), so it has no effect. A request that is declared idempotent may have
   * one.
   */
  readonly isRead: boolean;
  /** Sending it again does no harm, or a decision allows it. */
  isRepeatable: boolean;
  /** Whether the server processed it; undefined while it is in flight. */
  processed: Exclude<Processed, 'no'> | undefined;

  constructor(request: string, key: string | undefined, isRead: boolean, isRepeatable: boolean) {
    this.request = request;
    this.key = key;
    this.isRead = isRead;
    this.isRepeatable = isRepeatable;
  }

  /** A decision allows sending it again. */
  allowRepeat(): void {
    this.isRepeatable = true;
  }

  /** Records whether the server processed it, or that this will stay unknown. */
  resolveAs(processed: Exclude<Processed, 'no'>): void {
    this.processed = processed;
  }
}

/** The facts of a request that is sent. */
interface Sent {
  readonly method: string;
  readonly step?: Step | undefined;
}

/** The request that a question is about. */
interface Asked {
  readonly request: string;
  readonly key?: string | undefined;
}

/**
 * The effects that the requests of one operation, including those in flight, may have had. Answers three
 * questions: is the outcome of the operation unknown, may this request have been done already, and would
 * another attempt do something twice.
 */
export class Effects {
  readonly #submission: Submission | undefined;
  #list: Effect[] = [];

  constructor(submission: Submission | undefined) {
    this.#submission = submission;
  }

  /** Records that a request is sent. */
  begin({ method, step }: Sent, request: string, isRepeatable: boolean): Effect {
    const effect = new Effect(request, step?.key, isSafeMethod(method), isRepeatable);
    this.#list.push(effect);
    return effect;
  }

  /**
   * Records that a request may have taken effect that is not one of the operation: of another client, where its error
   * has decided whether it may be sent again; or one that nothing links to its mutation.
   */
  beginForeign(isRepeatable: boolean): void {
    this.begin({ method: 'POST' }, '', isRepeatable);
  }

  /** Records what became of a request. */
  resolve(effect: Effect, processed: Processed): void {
    const isNone = processed === 'no' || (processed === 'yes' && effect.isRead);
    if (isNone) this.#list = this.#list.filter((other) => other !== effect);
    else effect.resolveAs(processed);
  }

  /**
   * Records that the API refused the key of `own` (or the same request, without a key): no attempt with it
   * took effect.
   */
  refuse(own: Asked): void {
    const name = ({ key, request }: Asked): string => key ?? request;
    this.#list = this.#list.filter((other) => other === own || name(other) !== name(own));
  }

  /** Whether any request of this operation, not counting `own`, may have taken effect. */
  hasAny(own?: Effect): boolean {
    return this.#list.some((effect) => effect !== own && !effect.isRead);
  }

  /** Whether a write of this operation was done. */
  isAnyDone(): boolean {
    return this.#list.some(({ processed }) => processed === 'yes');
  }

  /** Whether any request, not counting `own`, may have taken effect, in this operation or an earlier one. */
  isUnknown(own?: Effect): boolean {
    return !!this.#submission?.wasSent || this.hasAny(own);
  }

  /** Whether any request may have reached the server: then a request that was not sent was not the first. */
  wasSent(): boolean {
    return !!this.#submission?.wasSent || this.#list.length > 0;
  }

  /** Whether an attempt other than `own` may have done this request. */
  mayBeDone({ request, key }: Asked, own?: Effect): boolean {
    return this.#list.some(
      (effect) =>
        effect !== own &&
        (key === undefined ? effect.request === request && effect.processed : effect.key === key),
    );
  }

  /** Whether the requests with this key were processed; undefined while one of them is in flight. */
  processedWith(key: string): Processed | undefined {
    const own = this.#list.filter((effect) => effect.key === key).map(({ processed }) => processed);
    if (own.includes(undefined)) return undefined;
    return own.includes('yes') ? 'yes' : (own[0] ?? 'no');
  }

  /** Whether another attempt would do something twice. */
  isUnrepeatable(): boolean {
    return this.#list.some(({ isRepeatable }) => !isRepeatable);
  }
}
