import { hashKey, type Mutation, type QueryClient, type QueryKey } from '@tanstack/react-query';
import { checkSpread, definitionBehind } from '../mutation/definition.ts';
import { onRunChange } from '../mutation/execution.ts';
import { mutationStatus } from './mutation.ts';
import { createStatusStore, type StatusStore, storesByClient } from './store.ts';

/** The mutations of one `useSteadyMutation`; made by the hook. */
export interface MutationTarget {
  /** Which hook it is; empty while it has no mutation to show. */
  readonly mutation: string;
}

/** Whose status is asked for: the newest mutation with this key, or that of one `useSteadyMutation`. */
export type MutationStatusTarget =
  | { readonly mutationKey: QueryKey; readonly mutation?: never }
  | (MutationTarget & { readonly mutationKey?: never });

/** Names a target: equal keys have equal ids. A hash begins with a bracket, so no key is taken for a hook. */
export const mutationIdOf = ({ mutationKey, mutation = '' }: MutationStatusTarget): string =>
  mutationKey ? hashKey(mutationKey) : mutation;

function idsOf({ options: { mutationKey, mutationFn } }: Mutation): string[] {
  const target = definitionBehind(mutationFn)?.target;
  return [
    ...(mutationKey ? [hashKey(mutationKey)] : []),
    ...(target === undefined ? [] : [target]),
  ];
}

/** The statuses of the mutations of a client, each by the id of its target. */
export const mutationStatusesOf: (client: QueryClient, operation: string) => StatusStore<Mutation> =
  /* @__PURE__ */ storesByClient((client, instance) => {
    const mutations = client.getMutationCache();
    return createStatusStore<Mutation>(instance, ({ isIdle, refresh }) => {
      const newest = new Map<string, Mutation>();
      const index = (): Map<string, Mutation> => {
        newest.clear();
        for (const mutation of mutations.getAll()) note(mutation);
        return newest;
      };
      const note = (mutation: Mutation): void => {
        for (const id of idsOf(mutation)) {
          const known = newest.get(id);
          if (!known || known.mutationId <= mutation.mutationId) newest.set(id, mutation);
        }
      };
      const refreshMutation = (mutation: Mutation): void => idsOf(mutation).forEach(refresh);
      return {
        find: (id) => (isIdle() ? index() : newest).get(id),
        read: (mutation, before) => mutationStatus(mutation, mutations, instance, before),
        start() {
          index();
          return [
            mutations.subscribe(({ type, mutation }) => {
              if (!mutation) return;
              if (process.env.NODE_ENV !== 'production' && type === 'added') checkSpread(mutation);
              if (type === 'removed') index();
              else note(mutation);
              refreshMutation(mutation);
            }),
            // Of a plain one nobody knows which it is.
            onRunChange((mutation) => (mutation ? refreshMutation(mutation) : refresh())),
          ];
        },
        // That of a plain one does.
        endsInSilence: true,
      };
    });
  });
