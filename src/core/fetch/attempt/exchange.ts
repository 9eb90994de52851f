import { discard } from '../../lib/discard.ts';
import { untilAborted } from '../../lib/timer.ts';
import type { Clock } from '../../lib/clock.ts';
import { LateRead } from '../../origin/late-read.ts';
import { identityOf } from '../init.ts';
import type { SteadyRequest } from '../request.ts';
import type { Line } from './limits/line.ts';
import type { Silence } from './limits/silence.ts';
import type { Sending } from './sending.ts';

/** The attempt of an exchange. */
interface Exchanging {
  readonly context: { readonly clock: Clock; readonly client?: object | undefined };
  readonly request: SteadyRequest;
  readonly signal: AbortSignal;
  readonly sending: Sending | undefined;
  readonly line: Line | undefined;
  readonly silence: Silence;
  /** Ends it as late. */
  giveUp(): void;
}

/**
 * A request on the wire, and its answer. That of a query's read goes on after its attempt was late, as a late read: the
 * next attempt has two on the wire, and takes the good answer that comes first.
 */
export class Exchange {
  readonly #attempt: Exchanging;
  /** The init, before it is signed. */
  readonly #given: RequestInit;
  #controller: AbortController = new AbortController();
  /** The answer of the transport, until its headers have come. */
  #begun: Promise<Response> | undefined;
  /** The late read of an earlier attempt, whose answer would be that of this one. */
  #late: LateRead | undefined;
  /** It goes on as a late read. */
  #isKept = false;
  /** It was withdrawn: only the late read is on the wire. */
  #isWithdrawn = false;

  constructor(attempt: Exchanging, given: RequestInit) {
    this.#attempt = attempt;
    this.#given = given;
  }

  /** The signal for the transport. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Called before each sending. @returns the answer of a late read, if it has come: then nothing is sent. */
  takeLate(): Response | undefined {
    const late = this.#findLate();
    this.#late = late;
    return late && this.#take(late);
  }

  /** Settles as what the transport has begun, or as the late read does if that is first. */
  await(begun: Promise<Response>): Promise<Response> {
    this.#begun = begun;
    const own = untilAborted(this.#attempt.signal, begun, (response) => {
      if (!this.#isKept) discard(response);
    });
    return this.#late ? this.#awaitEither(this.#late, own) : own;
  }

  /** Called when its headers have arrived. */
  receiveHeaders(): void {
    this.#begun = undefined;
  }

  /** Called when its attempt has ended before its answer. */
  abort(reason: unknown): void {
    if (!this.#isKept) this.#controller.abort(reason);
  }

  /** The function that leaves its connection to another query; undefined unless it goes beside a late read. */
  get withdraw(): (() => boolean) | undefined {
    const late = this.#late;
    return late && (() => this.#withdraw(late));
  }

  /** Goes on as a late read, if it is a query's and waits for its headers, and a connection is left for its next attempt. */
  keep(): void {
    const { context, line, request, sending, silence } = this.#attempt;
    const { operation } = request;
    const begun = this.#begun;
    const identity = identityOf(request, this.#given);
    // Another client keeps the data of an answer by its own request.
    if (operation.ref.kind !== 'query' || context.client || !sending || !begun || !identity) return;
    if (operation.phase.kind === 'ended' || this.#findLate() || line?.hasRoom() === false) return;
    const { origin, outcomes } = sending.request.admission;
    if (origin.maxInFlight < Infinity) return;
    const late = new LateRead(context.clock, origin.late, {
      name: request.name,
      identity,
      begun,
      wire: this.#controller,
      onAnswer() {
        outcomes.recordLate(sending.request, sending.sentAt);
        // Its next attempt sends nothing, so nothing holds that back.
        operation.pauses.each('go');
      },
      onEnd: () => line?.end(late),
    });
    // In this order, so that no other request loses its connection in between.
    line?.end(silence);
    line?.hold(late);
    operation.keepLate(late);
    this.#isKept = true;
  }

  #findLate(): LateRead | undefined {
    const { request } = this.#attempt;
    const late = request.admission?.origin.late;
    if (!late?.size) return undefined;
    const identity = identityOf(request, this.#given);
    return [...late].find(({ given }) => given.identity === identity);
  }

  /** Settles as the first of both that has a good answer, or else as its own request does. */
  async #awaitEither(late: LateRead, own: Promise<Response>): Promise<Response> {
    const { signal } = this.#attempt;
    const either = late.answer.then((answer) => {
      if (!answer && this.#isWithdrawn) this.#attempt.giveUp();
      return answer ?? own;
    });
    const sent = own.catch((error: unknown) => {
      if (!this.#isWithdrawn) throw error;
      return untilAborted(signal, either);
    });
    const first = await Promise.race([either, sent]);
    if (first === late.response) return (!signal.aborted && this.#take(late)) || own;
    if (first.ok) late.abort();
    return first;
  }

  /** Leaves its connection to another query, and waits for the late read, as React Query alone would. */
  #withdraw(late: LateRead): boolean {
    if (!late.isOpen || late.response || this.#isWithdrawn) return false;
    this.#isWithdrawn = true;
    this.#begun = undefined;
    this.#controller.abort();
    return true;
  }

  /** @returns the answer of a late read, if it has one that no attempt has taken. Then nothing else is on the wire. */
  #take(late: LateRead): Response | undefined {
    const answer = late.take();
    if (!answer) return undefined;
    this.#controller.abort();
    this.#controller = late.given.wire;
    return answer;
  }
}
