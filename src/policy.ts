export { retryPolicy } from './react-query/retry-policy.ts';
export type { RetryPolicyOptions } from './react-query/retry-policy.ts';
