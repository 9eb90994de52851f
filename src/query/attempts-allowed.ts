import { reportOf } from '../fetch/failure-report.ts';
import { layer } from '../policy/options.ts';
import { type Instance, instanceBehind } from './registry.ts';

/** How many attempts React Query's `retry` option allows, as far as it can be told. */
export function attemptsAllowed(retry: unknown, lastError: unknown, { clock }: Instance): number {
  const policy = instanceBehind(retry)?.policy;
  if (policy) {
    // The API and the call have their say once a request of theirs has failed.
    const { apiPolicy, callPolicy } = reportOf(lastError, clock.now());
    return layer(policy, apiPolicy, callPolicy).maxRetries + 1;
  }
  return typeof retry === 'number' ? retry + 1 : retry === true ? Infinity : 1;
}
