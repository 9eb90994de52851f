import { isSafeMethod } from '../../policy/operation.ts';
import type { Processed } from '../../policy/outcome.ts';
import type { Submission, Step } from './submission.ts';

/** A request of an operation that may have reached the server, and taken effect there. */
export class Effect {
  /** Method and URL. */
  readonly request: string;
  /** The idempotency key that it carries: requests with one key take effect once. */
  readonly key: string | undefined;
  /** By its method (RFC 9110 §9.2.1): it has no effect. A request that is declared idempotent may have one. */
  readonly isRead: boolean;
  /** Sending it again does no harm, or it was decided that it may be sent again. */
  isRepeatable: boolean;
  /** Whether the server did it; undefined while it is under way. */
  processed: Exclude<Processed, 'no'> | undefined;

  constructor(request: string, key: string | undefined, isRead: boolean, isRepeatable: boolean) {
    this.request = request;
    this.key = key;
    this.isRead = isRead;
    this.isRepeatable = isRepeatable;
  }

  /** It was decided that it may be sent again. */
  allowRepeat(): void {
    this.isRepeatable = true;
  }

  /** It is known, or will not be known, whether the server did it. */
  resolveAs(processed: Exclude<Processed, 'no'>): void {
    this.processed = processed;
  }
}

/** What is known of a request that is sent. */
interface Sent {
  readonly method: string;
  readonly step?: Step | undefined;
}

/** A request whose effect is asked about. */
interface Asked {
  readonly request: string;
  readonly key?: string | undefined;
}

/**
 * What the requests of one operation may have done at the server: those under way, too. Three questions are
 * asked of it: is the outcome of the operation unknown, may this request have been done already, and would
 * another attempt do something twice.
 */
export class Effects {
  readonly #submission: Submission | undefined;
  #list: Effect[] = [];

  constructor(submission: Submission | undefined) {
    this.#submission = submission;
  }

  /** A request is sent. */
  begin({ method, step }: Sent, request: string, isRepeatable: boolean): Effect {
    const effect = new Effect(request, step?.key, isSafeMethod(method), isRepeatable);
    this.#list.push(effect);
    return effect;
  }

  /** An attempt of another client may have taken effect. Whether it may be sent again was decided by its error. */
  beginForeign(): void {
    this.begin({ method: 'POST' }, '', true);
  }

  /** It is known what became of the request. */
  resolve(effect: Effect, processed: Processed): void {
    const isNone = processed === 'no' || (processed === 'yes' && effect.isRead);
    if (isNone) this.#list = this.#list.filter((other) => other !== effect);
    else effect.resolveAs(processed);
  }

  /** The API has refused what carries the key of `own`, or is the same request without one: no attempt with it has taken effect. */
  refuse(own: Asked): void {
    const name = ({ key, request }: Asked): string => key ?? request;
    this.#list = this.#list.filter((other) => other === own || name(other) !== name(own));
  }

  /** Whether a request of this operation, `own` apart, may have taken effect. */
  hasAny(own?: Effect): boolean {
    return this.#list.some((effect) => effect !== own && !effect.isRead);
  }

  /** Whether anything may have taken effect, also by an operation before this one; `own` is not asked about. */
  isUnknown(own?: Effect): boolean {
    return !!this.#submission?.wasSent || this.hasAny(own);
  }

  /** Whether a request of any kind, `own` apart, may have reached the server: what is not sent now was not the first. */
  wasSent(own?: Effect): boolean {
    return !!this.#submission?.wasSent || this.#list.some((effect) => effect !== own);
  }

  /** Whether another attempt than `own` may have done this request. */
  mayBeDone({ request, key }: Asked, own?: Effect): boolean {
    return this.#list.some(
      (effect) =>
        effect !== own &&
        (key === undefined ? effect.request === request && effect.processed : effect.key === key),
    );
  }

  /** Whether another attempt would do something twice. */
  isUnrepeatable(): boolean {
    return this.#list.some(({ isRepeatable }) => !isRepeatable);
  }
}
