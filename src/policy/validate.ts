import { checkOption, reject } from './check-option.ts';
import { layer, type Policy, type PolicyOptions } from './options.ts';

/**
 * Lays options over a policy, once they are known to be right.
 *
 * @throws TypeError that names the operation, the option, its value and the allowed range.
 */
export function definePolicy(
  operation: string,
  base: Policy,
  options: PolicyOptions | undefined,
): Policy {
  for (const [name, value] of Object.entries(options ?? {})) {
    checkOption(operation, name, value);
  }
  const policy = layer(base, options);
  const { baseMs, capMs } = policy;
  if (capMs < baseMs) reject(operation, 'capMs', capMs, `at least baseMs, ${baseMs}`);
  return policy;
}
