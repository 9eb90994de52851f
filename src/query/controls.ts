import type { Mutation } from '@tanstack/react-query';
import { cancelMutation, retryMutationNow } from './mutation-controls.ts';
import { definitionBehind } from './mutation-definition.ts';
import { cancelPlain, retryPlainNow } from './plain-controls.ts';
import { cancel, retryNow, type RetryControls } from './query-controls.ts';
import type { StatusStore } from './status-store.ts';

/** The controls of what a status is asked for; they do nothing where there is nothing to do. */
export function controlsOf(store: StatusStore, id: string): RetryControls {
  const { instance } = store;
  const withQuery = (act: typeof retryNow) => (): void => {
    const query = store.findQuery(id);
    if (query) act(query, instance);
  };
  const withMutation = (act: typeof cancelMutation, actOnPlain: typeof cancelPlain) => (): void => {
    const mutation: Mutation | undefined = store.findMutation(id);
    if (!mutation) return;
    const isOurs = definitionBehind(mutation.options.mutationFn);
    (isOurs ? act : actOnPlain)(mutation, instance);
  };
  return id.startsWith('q')
    ? { retryNow: withQuery(retryNow), cancel: withQuery(cancel) }
    : {
        retryNow: withMutation(retryMutationNow, retryPlainNow),
        cancel: withMutation(cancelMutation, cancelPlain),
      };
}
