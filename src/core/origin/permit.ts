import type { Outcome } from '../policy/outcome.ts';
import type { Permit, Target } from './ask.ts';
import type { Health } from './health/endpoint-health.ts';
import { isQuiet } from './origin.ts';
import type { Outcomes } from './outcomes.ts';

/** The permit of an attempt that was sent: in its turn, as a probe, or at once. */
export class GrantedPermit implements Permit {
  readonly isProbe: boolean;
  readonly isTrial: boolean;
  readonly #outcomes: Outcomes;
  readonly #target: Target;
  readonly #sentAt: number;
  readonly #endProbe: ReturnType<Health['probes']['start']> | undefined;
  readonly #isInTurn: boolean;
  #isFree = false;
  #isOver = false;

  constructor(outcomes: Outcomes, target: Target, probed?: Health, isInTurn = false) {
    const { limits, health, leader, queue, inFlight } = outcomes.origin;
    this.isProbe = !!probed;
    this.isTrial = this.isProbe || isInTurn;
    this.#outcomes = outcomes;
    this.#target = target;
    this.#isInTurn = isInTurn;
    this.#sentAt = outcomes.clock.now();
    inFlight.add(target);
    limits.spend(target.limitScope, (scope) => queue.sizeOf(scope));
    health.recordSent(target.endpoint, this.#sentAt);
    this.#endProbe = probed?.probes.start();
    if (probed) leader?.lead(probed.scope);
  }

  free(): void {
    const { origin, pump } = this.#outcomes;
    if (this.#freeSlot() && origin.queue.size > 0) pump();
  }

  end(outcome?: Outcome, error?: unknown, isUnused?: boolean): void {
    const { origin, pump } = this.#outcomes;
    this.#freeSlot();
    if (this.#isOver) return;
    this.#isOver = true;
    const wasQuiet = isQuiet(origin);
    const [target, sentAt, endProbe] = [this.#target, this.#sentAt, this.#endProbe];
    if (outcome) this.#outcomes.record({ target, sentAt, endProbe, outcome, error });
    else endProbe?.(false, isUnused);
    // A success changes nothing while nothing waits and nothing is known.
    if (!wasQuiet || (outcome && outcome.kind !== 'ok')) pump();
  }

  /** @returns whether it had its slot until now. */
  #freeSlot(): boolean {
    if (this.#isFree) return false;
    this.#isFree = true;
    const { inFlight, slowStart } = this.#outcomes.origin;
    inFlight.delete(this.#target);
    if (this.#isInTurn) slowStart.finish();
    return true;
  }
}
