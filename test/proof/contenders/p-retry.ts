import retry from 'p-retry';
import { type Contender, createKey, postOrder, tell } from '../contender.ts';

const retryWith =
  (keyOf: (made: string) => string): Contender =>
  (line) =>
  (order) => {
    const made = createKey();
    return tell(
      retry(() => postOrder(line, order, keyOf(made)), {
        retries: 3,
        minTimeout: 1000 / line.speed,
        // Otherwise it retries no time-out: it takes its error for the caller's abort.
        shouldRetry: () => true,
      }),
    );
  };

/** The key is made in the function that is retried. */
export const pRetry: Contender = retryWith(createKey);

/** The key is made by hand, before it. */
export const pRetryKeyed: Contender = retryWith((made) => made);
