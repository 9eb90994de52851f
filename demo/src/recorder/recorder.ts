import { hashKey, onlineManager, type QueryClient, type QueryKey } from '@tanstack/react-query';
import type { Steadfetch } from 'steadfetch';
import { recordEvent } from './record-event.ts';
import { empty, endWait, pause, isPaused, isOver, type Recording } from './recording.ts';

/** Draws up what happens to one query, as it happens. */
export interface Recorder {
  /** Begins a new recording, of another query. */
  readonly follow: (queryKey: QueryKey) => void;
  /** Begins a new recording, of what is submitted from now on. */
  readonly followMutations: () => void;
  readonly getState: () => Recording;
  readonly subscribe: (listener: () => void) => () => void;
}

/**
 * Steadfetch's events tell of attempts, requests, decisions, waits and holds. That React Query holds
 * an attempt back, offline or in a hidden tab, is told by React Query alone.
 */
export function createRecorder(steady: Steadfetch, queryClient: QueryClient): Recorder {
  const listeners = new Set<() => void>();
  /** The hash of a query; undefined for mutations. */
  let followed: string | undefined;
  let recording = empty;

  const set = (next: Recording): void => {
    if (next === recording) return;
    recording = next;
    for (const listener of listeners) listener();
  };

  steady.subscribe((event) => {
    const { kind, queryKey } = event.operation;
    const isFollowed =
      followed === undefined
        ? kind === 'mutation'
        : queryKey !== undefined && hashKey(queryKey) === followed;
    if (isFollowed) set(recordEvent(recording, event));
  });

  queryClient.getQueryCache().subscribe(({ type, query }) => {
    if (type !== 'updated' || query.queryHash !== followed) return;
    const pauses = query.state.fetchStatus === 'paused';
    if (pauses === isPaused(recording)) return;
    const now = Date.now();
    if (!pauses) return set(endWait(recording, now));
    const pausedFor = onlineManager.isOnline() ? 'hidden' : 'offline';
    set(pause(isOver(recording) ? empty : recording, now, { pausedFor, retryAt: undefined }));
  });

  return {
    follow(queryKey) {
      followed = hashKey(queryKey);
      set(empty);
    },
    followMutations() {
      followed = undefined;
      set(empty);
    },
    getState: () => recording,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
