import { focusManager, type Mutation, type QueryClient } from '@tanstack/react-query';
import { definitionBehind } from './mutation-definition.ts';
import { shadow } from './shadow.ts';

/** Those that were paused in this page, and what gives them back to React Query. */
const freed = new WeakMap<Mutation, () => void>();

/** It is ours and is or was paused, behind another of its scope: no refetch waits for it. */
export function isFreed(mutation: Mutation): boolean {
  return freed.has(mutation);
}

/**
 * Mutations of ours go on in a hidden tab, and no refetch waits for them. From now on, until the
 * returned function is called, this holds in this client also while they are queued behind another of
 * their scope. Those that are queued already are known by their ids, above that of one that runs.
 *
 * React Query continues what is paused when its turn has come, when the network is back and when the
 * tab is seen. Its refetch waits for the ends of all that it continues, and before 5.104.2 it
 * continues nothing in a hidden tab. What comes from a storage has to be continued once before it is
 * queued: that first time is React Query's.
 */
export function freeQueued(client: QueryClient, afterId: number): () => void {
  const cache = client.getMutationCache();
  const free = (mutation: Mutation): void => {
    if (isFreed(mutation) || !mutation.state.isPaused) return;
    if (!definitionBehind(mutation.options.mutationFn)) return;
    const proceed = mutation.continue.bind(mutation);
    const goOn = async (): Promise<void> => {
      const giveBack = shadow(focusManager, 'isFocused', () => true);
      // Whoever has called `mutate` is told of its end.
      void proceed();
      giveBack();
    };
    freed.set(mutation, shadow(mutation, 'continue', goOn));
  };
  for (const one of cache.getAll()) if (one.mutationId > afterId) free(one);
  const stop = cache.subscribe(({ type, mutation }) => {
    if (type === 'updated') free(mutation);
  });
  return () => {
    stop();
    for (const one of cache.getAll()) {
      freed.get(one)?.();
      freed.delete(one);
    }
  };
}
