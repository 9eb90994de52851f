import {
  useMutation,
  type UseMutationResult,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useState } from 'react';
import { press } from './press.ts';
import type { List, Props, Tutorial } from './tutorial.ts';

const useTodos = ({ api }: Props) =>
  useQuery({ queryKey: ['todos'], queryFn: () => api.get<List>('/api/todos') });

function Todos({ todos }: { todos: ReturnType<typeof useTodos> }) {
  if (todos.isPending) return <p>Loading…</p>;
  return <ul>{todos.data?.items.join()}</ul>;
}

const adding = ({ api }: Props) => ({
  mutationFn: (text: string) => api.post('/api/todos', { text }),
});

interface AddView {
  readonly add: UseMutationResult<unknown, Error, string>;
  readonly isBusy?: boolean;
  readonly pending?: string | false;
}

function AddButton({ add, isBusy = false, pending }: AddView) {
  return (
    <>
      <button disabled={isBusy} onClick={() => add.mutate('Milk')}>
        Add
      </button>
      {add.isPending && (pending || 'Saving…')}
      {add.isError && 'Failed'}
      {add.isSuccess && 'Saved'}
    </>
  );
}

function Form(props: Props) {
  const todos = useTodos(props);
  const add = useMutation(adding(props));
  return (
    <div>
      <Todos todos={todos} />
      <AddButton add={add} isBusy={add.isPending} />
    </div>
  );
}

function Invalidating(props: Props) {
  const queryClient = useQueryClient();
  const todos = useTodos(props);
  const add = useMutation({
    ...adding(props),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['todos'] }),
  });
  return (
    <div>
      <Todos todos={todos} />
      <AddButton add={add} isBusy={add.isPending} />
    </div>
  );
}

function Optimistic(props: Props) {
  const queryClient = useQueryClient();
  const todos = useTodos(props);
  const queryKey = ['todos'];
  const add = useMutation({
    ...adding(props),
    onMutate: async (text) => {
      await queryClient.cancelQueries({ queryKey });
      const previous = queryClient.getQueryData<List>(queryKey);
      queryClient.setQueryData<List>(queryKey, (old) => ({
        items: [...(old?.items ?? []), text],
      }));
      return { previous };
    },
    onError: (_error, _text, context) => {
      queryClient.setQueryData(queryKey, context?.previous);
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey }),
  });
  return (
    <div>
      <Todos todos={todos} />
      <AddButton add={add} />
    </div>
  );
}

function OptimisticVariables(props: Props) {
  const queryClient = useQueryClient();
  const todos = useTodos(props);
  const { isPending, isError, variables, mutate } = useMutation({
    ...adding(props),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['todos'] }),
  });
  return (
    <div>
      <Todos todos={todos} />
      {isPending && <li>{variables.toLowerCase()}…</li>}
      {isError && <li>Failed: {variables.toLowerCase()}</li>}
      <button onClick={() => mutate('Milk')}>Add</button>
    </div>
  );
}

function TryCatch(props: Props) {
  const [words, setWords] = useState('');
  const { mutateAsync } = useMutation(adding(props));
  const submit = async (): Promise<void> => {
    setWords('Saving…');
    try {
      await mutateAsync('Milk');
      setWords('Saved');
    } catch {
      setWords('Failed');
    }
  };
  return (
    <div>
      <button onClick={() => void submit()}>Add</button>
      {words}
    </div>
  );
}

/** As the docs show what waits for the network. */
function Waiting(props: Props) {
  const add = useMutation(adding(props));
  return (
    <div>
      <AddButton add={add} pending={add.isPaused && 'You are offline: saved later…'} />
    </div>
  );
}

const claims: Tutorial['claims'] = {
  Saved: ({ stored }) => stored.includes('Milk'),
  'You are offline': ({ isOnline }) => !isOnline,
};

export const writes: readonly Tutorial[] = (
  [
    { name: 'a form with `isPending`', App: Form },
    { name: '`onSettled: () => invalidateQueries()`', App: Invalidating },
    { name: 'an optimistic update by `onMutate`', App: Optimistic },
    { name: '`mutateAsync` in try and catch', App: TryCatch },
    { name: 'a form with `isPaused`', App: Waiting },
  ] as const
)
  .map((one): Tutorial => ({
    ...one,
    act: press('Add'),
    broken: 'GET /api/todos',
    content: ['Saved'],
    claims,
  }))
  .concat({
    name: 'an optimistic update by `variables`',
    App: OptimisticVariables,
    act: press('Add'),
    broken: 'POST /api/todos',
    content: ['Milk'],
  });
