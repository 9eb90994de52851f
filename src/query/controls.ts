import { warn } from '../fetch/warn.ts';
import { cancelMutation, retryMutationNow } from './mutation-controls.ts';
import { definitionBehind } from './mutation-definition.ts';
import { cancel, retryNow, type RetryControls } from './query-controls.ts';
import type { Instance } from './registry.ts';
import type { StatusStore } from './status-store.ts';

/** The controls of what a status is asked for; they do nothing where there is nothing to do. */
export function controlsOf(store: StatusStore, id: string): RetryControls {
  const { instance } = store;
  const withQuery = (act: typeof retryNow) => (): void => {
    const query = store.findQuery(id);
    if (query) act(query, instance);
  };
  const withMutation = (act: typeof cancelMutation) => (): void => {
    const mutation = store.findMutation(id);
    if (!mutation) return;
    if (definitionBehind(mutation.options.mutationFn)) act(mutation, instance);
    else if (process.env.NODE_ENV !== 'production') warnOfPlain(instance);
  };
  return id.startsWith('q')
    ? { retryNow: withQuery(retryNow), cancel: withQuery(cancel) }
    : {
        retryNow: withMutation(retryMutationNow),
        cancel: withMutation(cancelMutation),
      };
}

function warnOfPlain({ operations }: Instance): void {
  warn(
    operations,
    'plain controls',
    `Retry now and Cancel do nothing for a plain mutation: React Query can neither end its wait nor ` +
      `abort it. Make it with mutationOptions.`,
  );
}
