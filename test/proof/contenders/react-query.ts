import { MutationObserver, QueryClient } from '@tanstack/react-query';
import { type Contender, createKey, type Order, postOrder, tell } from '../contender.ts';

/** What useMutation does, with `retry: 3` and React Query's own delays. */
const mutate =
  (keyOf: (made: string) => string): Contender =>
  (line) => {
    const client = new QueryClient();
    return (order) => {
      const made = createKey();
      const observer = new MutationObserver(client, {
        mutationFn: (variables: Order) => postOrder(line, variables, keyOf(made)),
        retry: 3,
        retryDelay: (failureCount) => Math.min(1000 * 2 ** failureCount, 30_000) / line.speed,
      });
      return tell(observer.mutate(order));
    };
  };

/** The key is made in the mutationFn, which runs again for a retry. */
export const reactQuery = mutate(createKey);

/** The key is made by hand, before `mutate`. */
export const reactQueryKeyed = mutate((made) => made);
