import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { createSteadfetch, profiles, isSteadfetchError, mutationOptions } from 'steadfetch';
import type { Contender, Order } from '../contender.ts';
import { pacedClock } from '../paced-clock.ts';

/** The `critical` preset, and everything else as it comes: budget, circuit, holds. */
export const steadfetch: Contender = (line) => {
  const { url } = line;
  const steady = createSteadfetch({
    // A clock that goes faster: so every default of Steadfetch stays as it is.
    clock: pacedClock(line),
    apis: [{ match: url, idempotency: profiles.draft }],
  });
  const client = new QueryClient({ defaultOptions: steady.defaultOptions });
  const placeOrder = mutationOptions(steady, {
    mutationKey: ['order'],
    mutationFn: (order: Order, { json }) => json(url, { method: 'POST', json: order }),
    policy: { preset: 'critical' },
  });
  return async (order) => {
    try {
      await new MutationObserver(client, placeOrder).mutate(order);
      return 'success';
    } catch (error) {
      const isUndone = isSteadfetchError(error) && error.outcome.processed === 'no';
      return isUndone ? 'failed' : 'unknown';
    }
  };
};
