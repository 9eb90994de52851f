import type { PagePolicyName } from '../page/page-policies.ts';
import type { PolicyName } from '../policies/by-name.ts';

/** What the policies are called where people read it. */
export const names: Readonly<Record<PolicyName, readonly [name: string, about: string]>> = {
  steadfetch: ['Steadfetch', 'holds, and asks with a probe'],
  none: ['No retry', 'fails at once'],
  'react-query': ['React Query', 'its default: 3 retries, 1-2-4 s'],
  ky: ['ky', 'its default: 2 retries, 0.3-0.6 s'],
  'axios-retry': ['axios-retry', 'exponentialDelay, 3 retries'],
  'p-retry': ['p-retry', 'its default: 10 retries, 1-2-4 ... s'],
  'aws-standard': ['AWS standard mode', '3 attempts, full jitter, 500 tokens'],
  cockatiel: ['cockatiel', 'breaker: 5 failures, 10 s; no retry'],
  'full-jitter': ['Full jitter', '3 retries from 1 s'],
  'equal-jitter': ['Equal jitter', '3 retries from 1 s'],
  'decorrelated-jitter': ['Decorrelated jitter', '3 retries from 1 s'],
  'full-jitter-budget': ['Full jitter, budget', '10 % of the requests, per tab'],
  'full-jitter-throttle': ['Full jitter, throttle', 'gRPC: 10 tokens, 0.1 a success'],
};

/** What the policies of a page are called. */
export const pagePolicyNames: Readonly<Record<PagePolicyName, string>> = {
  steadfetch: 'Steadfetch',
  'react-query': 'React Query',
  'full-jitter-budget': 'full jitter, budget',
  'full-jitter-8': 'full jitter, 8 retries',
  ky: 'ky',
  'axios-retry': 'axios-retry',
  cockatiel: 'cockatiel',
  none: 'No retry',
};
