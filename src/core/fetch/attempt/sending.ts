import type { Effect } from '../../operation/parts/effects.ts';
import type { Admission } from '../../origin/admission.ts';
import type { Permit } from '../../origin/ask.ts';
import type { Outcome } from '../../policy/outcome.ts';
import type { SteadyRequest } from '../request.ts';

/** Passes the outcome of a request that was sent on to its origin, the limits and the watch over the network. */
export type RecordOutcome = (
  sending: Sending,
  outcome: Outcome,
  error: unknown,
  response: Response | undefined,
) => void;

/** One sending of a request: `granted`, then `out`, then `ended`. Its permit, its effect and its write end together. */
export class Sending {
  readonly request: SteadyRequest;
  readonly admission: Admission;
  readonly permit: Permit;
  /** The effect that it may have at the server; undefined until it is out. */
  effect: Effect | undefined;
  /** When it went out, in epoch milliseconds. */
  sentAt = 0;
  readonly #recordOutcome: RecordOutcome;
  #isEnded = false;

  constructor(
    request: SteadyRequest,
    admission: Admission,
    permit: Permit,
    recordOutcome: RecordOutcome,
  ) {
    this.request = request;
    this.admission = admission;
    this.permit = permit;
    this.#recordOutcome = recordOutcome;
  }

  /** It is handed to its transport. */
  send(now: number): void {
    const { operation, name, isRepeatable, write } = this.request;
    this.sentAt = now;
    this.effect = operation.effects.begin(this.request, name, isRepeatable);
    write?.send();
  }

  /** Records how it has ended, at its headers; only the first outcome counts. One that is not out gives its permit back. */
  end(outcome: Outcome, error?: unknown, response?: Response): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { request, permit, effect } = this;
    if (effect) {
      request.operation.effects.resolve(effect, outcome.processed);
      this.#recordOutcome(this, outcome, error, response);
    } else permit.end(undefined, undefined, true);
    request.endWait?.();
    if (effect) request.write?.recordOutcome(outcome.processed, response);
  }
}
