import type { Contender } from './contender.ts';
import { axiosInInterceptor, axiosKeyed } from './contenders/axios.ts';
import { kyInHook } from './contenders/ky.ts';
import { pRetry, pRetryKeyed } from './contenders/p-retry.ts';
import { plainFetch } from './contenders/plain-fetch.ts';
import { reactQuery, reactQueryKeyed } from './contenders/react-query.ts';
import { steadfetch } from './contenders/steadfetch.ts';

/** Each as its user would configure it, by the name that the figures call it. */
export const contenders: Readonly<Record<string, Contender>> = {
  Steadfetch: steadfetch,
  'plain fetch': plainFetch,
  'React Query, key in the mutationFn': reactQuery,
  'ky, key in a hook': kyInHook,
  'axios with axios-retry, key in an interceptor': axiosInInterceptor,
  'p-retry, key in the retried function': pRetry,
  'React Query, key made once by hand': reactQueryKeyed,
  'axios with axios-retry, key made once by hand': axiosKeyed,
  'p-retry, key made once by hand': pRetryKeyed,
};
