import { layer, type Policy, type PolicyOptions } from '../../policy/options.ts';
import type { RequestFacts } from '../facts.ts';
import { none } from './pauses.ts';

/** All that was said of how the failures of an operation are answered. */
export class Policies {
  readonly #shared: Policy;
  /** The policy of this query, mutation or call. */
  readonly own: PolicyOptions | undefined;
  /** The policy that was merged last: the same for each of its attempts, as a rule, and merging takes long. */
  #merged: Policy;
  #layers: readonly unknown[] = none;

  constructor(shared: Policy, own: PolicyOptions | undefined) {
    this.#shared = shared;
    this.own = own;
    this.#merged = shared;
  }

  /** That of a request: the policies of its API and its call lie around the operation's own. */
  of({ apiPolicy: api, callPolicy: call }: RequestFacts): Policy {
    const { own } = this;
    const known = this.#layers;
    if (known[0] !== api || known[1] !== own || known[2] !== call) {
      this.#layers = [api, own, call];
      this.#merged = layer(this.#shared, api, own, call);
    }
    return this.#merged;
  }
}
