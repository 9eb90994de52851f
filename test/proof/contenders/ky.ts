import ky from 'ky';
import { type Contender, createKey, tell, timeoutMs } from '../contender.ts';

/** POST and time-outs are among what it retries, which they are not by default. The key is made in a hook, which ky runs once a call. */
export const kyInHook: Contender = ({ url, speed }) => {
  const api = ky.create({
    timeout: timeoutMs / speed,
    retry: {
      limit: 3,
      methods: ['post'],
      retryOnTimeout: true,
      delay: (attemptCount) => (0.3 * 2 ** (attemptCount - 1) * 1000) / speed,
    },
    hooks: {
      beforeRequest: [({ request }) => request.headers.set('idempotency-key', createKey())],
    },
  });
  return (order) => tell(api.post(url, { json: order }).json());
};
