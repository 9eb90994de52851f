import axios, { AxiosError, type AxiosAdapter } from 'axios';
import axiosRetryDefault, { exponentialDelay } from 'axios-retry';
import type { OpenTab } from './policy.ts';
import { type AttemptError, send } from './send.ts';

/** axios-retry with its exponential delays: three retries after 0.2, 0.4 and 0.8 s, plus 0 to 20 %. */
export const axiosRetry: OpenTab = (context) => {
  const adapter: AxiosAdapter = async (config) => {
    const answer = (status: number, retryAfterMs?: number) => ({
      status,
      statusText: '',
      data: '',
      config,
      headers: retryAfterMs === undefined ? {} : { 'retry-after': `${retryAfterMs / 1000}` },
    });
    try {
      await send(context, config.url ?? '');
      return answer(204);
    } catch (error) {
      const { status, isTimeout, retryAfterMs } = error as AttemptError;
      const code = status ? 'ERR_BAD_RESPONSE' : isTimeout ? 'ECONNABORTED' : 'ERR_NETWORK';
      const response = status ? answer(status, retryAfterMs) : undefined;
      throw new AxiosError(code, code, config, undefined, response);
    }
  };
  const client = axios.create({ adapter });
  axiosRetryDefault(client, { retryDelay: exponentialDelay });
  return (url) => client.get(url);
};
