import { discard } from '../lib/discard.ts';
import type { Clock } from '../lib/clock.ts';
import { type Alarm, startAlarm } from '../lib/timer.ts';
import type { Late } from '../operation/operation.ts';
import type { EnteredRequest } from './request.ts';
import type { Sending } from './attempt/sending.ts';

/** How long a read may be unanswered after it was given up. */
const mostMs = 30_000;
/** So many of an origin: each takes one of six connections. */
const mostOfOrigin = 2;

/**
 * A read that was given up because it is late, and not aborted. Its answer is that of the next attempt of its
 * operation, and shows that the origin is slow, and not down.
 */
export class LateRead implements Late {
  readonly name: string;
  /** Its good answer; never settles with any other. */
  readonly answer: Promise<Response>;
  isAnswered = false;
  isOver = false;
  readonly #wire: AbortController;
  readonly #all: Set<object>;
  readonly #setAlarm: Alarm;

  /** @param wire - Aborts it. */
  constructor(
    clock: Clock,
    { request, sentAt }: Sending,
    begun: Promise<Response>,
    wire: AbortController,
  ) {
    const { admission, name } = request;
    this.name = name;
    this.#wire = wire;
    this.#all = admission.origin.late;
    this.#all.add(this);
    this.#setAlarm = startAlarm(clock, mostMs, () => this.abort());
    this.answer = new Promise((resolve) => {
      const take = (response: Response): void => {
        this.#release();
        this.isOver = !response.ok;
        if (this.isOver) return discard(response);
        this.isAnswered = true;
        resolve(response);
        admission.outcomes.recordLate(request, sentAt);
      };
      void begun.then(take, () => this.abort());
    });
  }

  /** Whether one more may be kept at the origin of a request. */
  static fits({ admission }: EnteredRequest): boolean {
    return admission.origin.late.size < mostOfOrigin;
  }

  orSooner(own: Promise<Response>, wire: AbortController): Promise<Response> {
    return new Promise((resolve, reject) => {
      const takeLate = (response: Response): void => {
        resolve(response);
        wire.abort();
        void own.then(discard, () => {});
      };
      const takeOwn = (response: Response): void => {
        this.abort();
        resolve(response);
      };
      void this.answer.then(takeLate);
      void own.then(takeOwn, reject);
    });
  }

  abort(): void {
    this.isOver = true;
    this.#release();
    this.#wire.abort();
  }

  #release(): void {
    this.#setAlarm(Infinity);
    this.#all.delete(this);
  }
}
