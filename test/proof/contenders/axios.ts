import axios, { type AxiosInstance } from 'axios';
import axiosRetry, { exponentialDelay, isNetworkError, isRetryableError } from 'axios-retry';
import { type Contender, createKey, tell, timeoutMs } from '../contender.ts';

/** POST and time-outs among what it retries, which they are not by default. */
function createApi(speed: number): AxiosInstance {
  const api = axios.create({ timeout: timeoutMs / speed });
  axiosRetry(api, {
    retries: 3,
    shouldResetTimeout: true,
    retryCondition: (error) =>
      isNetworkError(error) || isRetryableError(error) || error.code === 'ECONNABORTED',
    retryDelay: (retryCount, error) => exponentialDelay(retryCount, error) / speed,
  });
  return api;
}

/** The key is made in an interceptor. */
export const axiosInInterceptor: Contender = ({ url, speed }) => {
  const api = createApi(speed);
  api.interceptors.request.use((config) => {
    config.headers.set('idempotency-key', createKey());
    return config;
  });
  return (order) => tell(api.post(url, order));
};

/** The key is made by hand, in the call. */
export const axiosKeyed: Contender = ({ url, speed }) => {
  const api = createApi(speed);
  return (order) => tell(api.post(url, order, { headers: { 'idempotency-key': createKey() } }));
};
