import type { Effect } from '../../operation/parts/effects.ts';
import type { Permit } from '../../origin/ask.ts';
import type { Outcome } from '../../policy/outcome.ts';
import type { EnteredRequest } from '../request.ts';

/** Records the outcome of a request that was sent: in its origin, the rate limits and the connectivity. */
export type RecordOutcome = (
  sending: Sending,
  outcome: Outcome,
  error: unknown,
  response: Response | undefined,
) => void;

/** One sending of a request: `granted`, then `out`, then `ended`. Its permit, its effect and its write end together. */
export class Sending {
  readonly request: EnteredRequest;
  readonly permit: Permit;
  /** The possible effect of the request at the server; undefined until it is sent. */
  effect: Effect | undefined;
  /** When it was sent, in epoch milliseconds. */
  sentAt = 0;
  readonly #recordOutcome: RecordOutcome;
  #isEnded = false;

  constructor(request: EnteredRequest, permit: Permit, recordOutcome: RecordOutcome) {
    this.request = request;
    this.permit = permit;
    this.#recordOutcome = recordOutcome;
  }

  /** Called when it is handed to the transport. */
  send(now: number): void {
    const { operation, name, isRepeatable, write } = this.request;
    this.sentAt = now;
    this.effect = operation.effects.begin(this.request, name, isRepeatable);
    write?.send();
  }

  /** Records its outcome, at its headers. Only the first outcome counts. If it was not sent, the permit is returned. */
  end(outcome: Outcome, error?: unknown, response?: Response): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    const { request, permit, effect } = this;
    if (effect) {
      request.operation.effects.resolve(effect, outcome.processed);
      this.#recordOutcome(this, outcome, error, response);
      if (outcome.kind !== 'aborted')
        request.operation.route.recordEnd(request, outcome.kind === 'ok');
    } else permit.end(undefined, undefined, true);
    request.endWait?.();
    if (effect) request.write?.recordOutcome(outcome.processed, response);
  }
}
