import { layer, type Policy, type PolicyOptions } from '../../policy/options.ts';
import type { RequestFacts } from '../facts.ts';

/** A policy, and what was laid over each other for it. */
export interface LayeredPolicy {
  readonly merged: Policy;
  readonly api: PolicyOptions | undefined;
  readonly own: PolicyOptions | undefined;
  readonly call: PolicyOptions | undefined;
}

/**
 * Lays the policies of an API, an operation (`own`) and a call over that of the instance. They are the same for
 * each request of an operation, as a rule, and merging takes long: so `known` is used again where it can be.
 *
 * @returns undefined where there is only that of the instance.
 */
export function layerPolicies(
  known: LayeredPolicy | undefined,
  shared: Policy,
  own: PolicyOptions | undefined,
  { apiPolicy: api, callPolicy: call }: RequestFacts,
): LayeredPolicy | undefined {
  if (known?.api === api && known?.own === own && known?.call === call) return known;
  return { merged: layer(shared, api, own, call), api, own, call };
}
