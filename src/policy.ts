export { retryPolicy } from './core/react-query/retry-policy.ts';
export type { RetryPolicyOptions } from './core/react-query/retry-policy.ts';
