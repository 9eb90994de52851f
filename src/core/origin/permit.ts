import type { Clock } from '../lib/clock.ts';
import { isRefusal, type Outcome } from '../policy/outcome.ts';
import type { Permit, Target } from './ask.ts';
import type { Health } from './health/endpoint-health.ts';
import { isQuiet, type Origin } from './origin.ts';
import type { Outcomes } from './outcomes.ts';

/** The dependencies of a permit. */
export interface PermitContext {
  readonly clock: Clock;
  readonly origin: Origin;
  readonly outcomes: Outcomes;
  /** Called when other attempts may be sent. */
  readonly onFree: () => void;
}

/** The permit of an attempt that was sent: in its turn, as a probe, or at once. */
export class GrantedPermit implements Permit {
  readonly isProbe: boolean;
  readonly isTrial: boolean;
  readonly #context: PermitContext;
  readonly #target: Target;
  readonly #sentAt: number;
  readonly #endProbe: ReturnType<Health['probes']['start']> | undefined;
  readonly #isInTurn: boolean;
  #isFree = false;
  #isOver = false;

  constructor(context: PermitContext, target: Target, probed?: Health, isInTurn = false) {
    const { limits, health, leader, queue, inFlight } = context.origin;
    this.isProbe = !!probed;
    this.isTrial = this.isProbe || isInTurn;
    this.#context = context;
    this.#target = target;
    this.#isInTurn = isInTurn;
    this.#sentAt = context.clock.now();
    inFlight.add(target);
    limits.spend(target.limitScope, (scope) => queue.sizeOf(scope));
    health.recordSent(target.endpoint, this.#sentAt);
    this.#endProbe = probed?.probes.start();
    if (probed) leader?.lead(probed.scope);
  }

  free(): void {
    const { origin, onFree } = this.#context;
    if (this.#freeSlot() && origin.queue.size() > 0) onFree();
  }

  end(outcome?: Outcome, error?: unknown, isUnused?: boolean): void {
    const { origin, outcomes, onFree } = this.#context;
    this.#freeSlot();
    if (this.#isOver) return;
    this.#isOver = true;
    const wasQuiet = isQuiet(origin);
    const { endpoint, resource, limitScope } = this.#target;
    const [sentAt, endProbe] = [this.#sentAt, this.#endProbe];
    if (!outcome) endProbe?.(false, isUnused);
    else {
      if (!isRefusal(outcome)) origin.limits.accept(limitScope, sentAt);
      outcomes.record({ endpoint, resource, sentAt, endProbe, outcome, error });
    }
    // A success changes nothing while nothing waits and nothing is known.
    if (!wasQuiet || (outcome && outcome.kind !== 'ok')) onFree();
  }

  /** @returns whether it had its slot until now. */
  #freeSlot(): boolean {
    if (this.#isFree) return false;
    this.#isFree = true;
    const { inFlight, slowStart } = this.#context.origin;
    inFlight.delete(this.#target);
    if (this.#isInTurn) slowStart.finish();
    return true;
  }
}
