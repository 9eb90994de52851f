import type { Policy } from '../policy/options.ts';
import { warn } from './warn.ts';

/** For development: tells when `shouldRetry` throws or returns something that is no answer. */
export function watchShouldRetry(instance: object, policy: Policy): Policy {
  const { shouldRetry } = policy;
  if (!shouldRetry) return policy;
  return {
    ...policy,
    shouldRetry(failure, operation) {
      let answer: unknown;
      try {
        answer = shouldRetry(failure, operation);
      } catch (error) {
        warn(instance, 'throws', `shouldRetry threw ${String(error)}; the status table decides.`);
      }
      if (typeof answer === 'boolean') return answer;
      if (answer !== undefined) {
        warn(
          instance,
          'answer',
          `shouldRetry returned ${answer instanceof Promise ? 'a promise' : typeof answer}; the status ` +
            `table decides. It must be synchronous and return true, false or undefined.`,
        );
      }
      return undefined;
    },
  };
}
