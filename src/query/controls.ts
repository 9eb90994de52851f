import type { Mutation } from '@tanstack/react-query';
import { cancelMutation, retryMutationNow } from './mutation-controls.ts';
import { definitionBehind } from './mutation-definition.ts';
import { cancel, retryNow, type RetryControls } from './query-controls.ts';
import type { StatusStore } from './status-store.ts';

/** Whether a mutation can be acted on: one of `steady.mutationOptions`. */
export function hasControls(mutation: Mutation | undefined): boolean {
  return definitionBehind(mutation?.options.mutationFn) !== undefined;
}

/** The controls of what a status is asked for; they do nothing where there is nothing to do. */
export function controlsOf(store: StatusStore, id: string): RetryControls {
  const { instance } = store;
  const withQuery = (act: typeof retryNow) => (): void => {
    const query = store.findQuery(id);
    if (query) act(query, instance);
  };
  const withMutation = (act: typeof cancelMutation) => (): void => {
    const mutation = store.findMutation(id);
    if (mutation) act(mutation, instance);
  };
  return id.startsWith('q')
    ? { retryNow: withQuery(retryNow), cancel: withQuery(cancel) }
    : { retryNow: withMutation(retryMutationNow), cancel: withMutation(cancelMutation) };
}
