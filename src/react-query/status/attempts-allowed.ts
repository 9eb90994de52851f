import { reportOf } from '../../fetch/failure-report.ts';
import type { LiveOperation } from '../../fetch/live-operation.ts';
import { layer } from '../../policy/options.ts';
import { type Instance, instanceBehind } from '../instance.ts';

/** How many attempts React Query's `retry` option allows, as far as it can be told. */
export function attemptsAllowed(
  retry: unknown,
  lastError: unknown,
  { clock }: Instance,
  live: LiveOperation | undefined,
): number {
  const policy = instanceBehind(retry)?.policy;
  if (policy) {
    // The API and the call have their say once a request of theirs has failed.
    const { apiPolicy, callPolicy } = reportOf(lastError, clock.now());
    return attemptsOf(layer(policy, apiPolicy, callPolicy).maxRetries, live);
  }
  return typeof retry === 'number' ? retry + 1 : retry === true ? Infinity : 1;
}

/** A trial of its origin that has failed uses up no retry: there may be one attempt more. */
export function attemptsOf(maxRetries: number, live: LiveOperation | undefined): number {
  return maxRetries + 1 + (live && maxRetries > 0 ? live.trials : 0);
}
