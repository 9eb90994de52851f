import { useQueryClient } from '@tanstack/react-query';
import { useMemo, useSyncExternalStore } from 'react';
import type { OutboxState } from '../outbox/outbox-state.ts';
import { outboxOf } from '../query/outbox-registry.ts';
import type { Outbox } from '../query/outbox.ts';

/** What the outbox holds, and what a user can do with it. */
export interface OutboxControls
  extends OutboxState, Pick<Outbox, 'retry' | 'retryAll' | 'edit' | 'discard' | 'clear'> {}

/**
 * How many entries are due, wait, are being sent, are paused before that and need a user, since when the
 * oldest is there, and whether they are on the disk. Counts are at most a tenth of a second old.
 *
 * @throws Error when the QueryClient has no outbox.
 *
 * @example
 * ```tsx
 * const { due, waiting, sending, paused, dead, retryAll } = useOutbox();
 * return (
 *   <p role="status">
 *     {due + waiting + sending + paused} to be sent.
 *     {dead > 0 && <button onClick={() => void retryAll()}>Retry {dead}</button>}
 *   </p>
 * );
 * ```
 */
export function useOutbox(): OutboxControls {
  const client = useQueryClient();
  const outbox = useMemo(() => outboxOf(client, 'useOutbox'), [client]);
  const { subscribe, getState, retry, retryAll, edit, discard, clear } = outbox;
  const state = useSyncExternalStore(subscribe, getState, getState);
  return useMemo(
    () => ({ ...state, retry, retryAll, edit, discard, clear }),
    [state, retry, retryAll, edit, discard, clear],
  );
}
