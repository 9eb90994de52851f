import {
  useIsMutating,
  useMutation,
  useMutationState,
  useQueryClient,
} from '@tanstack/react-query';
import { type ComponentType, useState } from 'react';
import { press } from './press.ts';
import type { List, Props, Tutorial } from './tutorial.ts';

const Nothing = (): null => null;

const adding = ({ api }: Props) => ({
  mutationKey: ['add'],
  mutationFn: (text: string) => api.post('/api/todos', { text }),
});

const mutating = (own: object, Beside: ComponentType = Nothing) =>
  function Mutating(props: Props) {
    const [words, setWords] = useState('');
    const add = useMutation({ ...adding(props), ...own });
    return (
      <div>
        <button
          onClick={() =>
            add.mutate('Milk', {
              onSuccess: () => setWords('Saved'),
              onError: () => setWords('Failed'),
            })
          }
        >
          Add
        </button>
        {add.isPending && 'Saving…'}
        {words}
        <Beside />
      </div>
    );
  };

function Pending() {
  const all = useMutationState({ filters: { mutationKey: ['add'], status: 'pending' } });
  const busy = useIsMutating();
  return (
    <p>
      {all.length > 0 && `${all.length} pending…`} {busy > 0 && 'Busy…'}
    </p>
  );
}

/** Two writes of one scope. */
function Scoped(props: Props) {
  const add = useMutation({ ...adding(props), scope: { id: 'todos' } });
  return (
    <div>
      <button
        onClick={() => {
          add.mutate('Milk');
          add.mutate('Eggs');
        }}
      >
        Add
      </button>
      {add.isPending && 'Saving…'}
      {add.isSuccess && 'Saved'}
      {add.isError && 'Failed'}
    </div>
  );
}

/** A wizard: a write, then the read of what was written. */
function Chain(props: Props) {
  const client = useQueryClient();
  const [words, setWords] = useState('');
  const go = async (): Promise<void> => {
    setWords('Saving…');
    try {
      await props.api.post('/api/todos', { text: 'Milk' });
      const { items } = await client.fetchQuery({
        queryKey: ['todos'],
        queryFn: () => props.api.get<List>('/api/todos'),
        retry: 3,
      });
      setWords(items.join());
    } catch {
      setWords('Failed');
    }
  };
  return (
    <div>
      <button onClick={() => void go()}>Add</button>
      {words}
    </div>
  );
}

const mutations: readonly (readonly [name: string, own: object, beside?: ComponentType])[] = [
  ['callbacks of `mutate`', {}],
  ['a mutation with `retry: 3`', { retry: 3 }],
  ['a mutation with `retry` by a function', { retry: (n: number) => n < 3, retryDelay: 1000 }],
  ["a mutation with `networkMode: 'always'`", { networkMode: 'always' }],
  ["a mutation with `networkMode: 'offlineFirst'`", { networkMode: 'offlineFirst' }],
  ['a mutation with `gcTime: 0`', { gcTime: 0 }],
  ['`useMutationState` and `useIsMutating`', {}, Pending],
];

/** More writes. */
export const moreWrites: readonly Tutorial[] = [
  ...mutations.map(([name, own, beside]) => ({
    name,
    App: mutating(own, beside),
    act: press('Add'),
    broken: 'POST /api/todos',
    content: ['Saved'],
    claims: {
      Saved: ({ stored }: { readonly stored: readonly string[] }) => stored.includes('Milk'),
    },
  })),
  {
    name: 'two writes of a `scope`',
    App: Scoped,
    act: press('Add'),
    broken: 'POST /api/todos',
    content: ['Saved'],
  },
  {
    name: 'a write, then `fetchQuery` with `retry: 3`',
    App: Chain,
    act: press('Add'),
    broken: 'GET /api/todos',
    content: ['Milk'],
  },
];
