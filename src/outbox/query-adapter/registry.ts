import type { QueryClient } from '@tanstack/react-query';
import type { Outbox } from './outbox.ts';

const outboxes = new WeakMap<QueryClient, Outbox>();

/** Makes it the outbox of a QueryClient, until the returned function is called. */
export function registerOutbox(client: QueryClient, outbox: Outbox): () => void {
  outboxes.set(client, outbox);
  return () => {
    if (outboxes.get(client) === outbox) outboxes.delete(client);
  };
}

/**
 * The outbox of a QueryClient.
 *
 * @throws Error when it has none.
 */
export function outboxOf(client: QueryClient, operation: string): Outbox {
  const outbox = outboxes.get(client);
  if (outbox) return outbox;
  const remedy =
    process.env.NODE_ENV === 'production'
      ? ''
      : ' Make one at start-up: createOutbox({ steady, queryClient, handlers }).';
  throw new Error(`${operation}: this QueryClient has no outbox.${remedy}`);
}
