import { circuitBreaker, ConsecutiveBreaker, handleAll } from 'cockatiel';
import type { OpenTab } from './policy.ts';
import { send } from './send.ts';

/** cockatiel's circuit breaker as in its README: 5 failures in a row open it for 10 s. No retries. */
export const cockatielBreaker: OpenTab = (context) => {
  const breaker = circuitBreaker(handleAll, {
    halfOpenAfter: 10_000,
    breaker: new ConsecutiveBreaker(5),
  });
  return (url) => breaker.execute(() => send(context, url));
};
