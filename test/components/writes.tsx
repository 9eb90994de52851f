import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { press } from './press.ts';
import type { List, Props, Tutorial } from './tutorial.ts';

const useTodos = ({ api }: Props) =>
  useQuery({ queryKey: ['todos'], queryFn: () => api.get<List>('/api/todos') });

function Todos({ todos }: { todos: ReturnType<typeof useTodos> }) {
  if (todos.isPending) return <p>Loading…</p>;
  return <ul>{todos.data?.items.join()}</ul>;
}

function Form(props: Props) {
  const todos = useTodos(props);
  const add = useMutation({ mutationFn: (text: string) => props.api.post('/api/todos', { text }) });
  return (
    <div>
      <Todos todos={todos} />
      <button disabled={add.isPending} onClick={() => add.mutate('Milk')}>
        Add
      </button>
      {add.isPending && 'Saving…'}
      {add.isError && 'Failed'}
      {add.isSuccess && 'Saved'}
    </div>
  );
}

function Invalidating(props: Props) {
  const queryClient = useQueryClient();
  const todos = useTodos(props);
  const add = useMutation({
    mutationFn: (text: string) => props.api.post('/api/todos', { text }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['todos'] }),
  });
  return (
    <div>
      <Todos todos={todos} />
      <button disabled={add.isPending} onClick={() => add.mutate('Milk')}>
        Add
      </button>
      {add.isPending && 'Saving…'}
      {add.isError && 'Failed'}
      {add.isSuccess && 'Saved'}
    </div>
  );
}

function Optimistic(props: Props) {
  const queryClient = useQueryClient();
  const todos = useTodos(props);
  const queryKey = ['todos'];
  const add = useMutation({
    mutationFn: (text: string) => props.api.post('/api/todos', { text }),
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
      <button onClick={() => add.mutate('Milk')}>Add</button>
      {add.isPending && 'Saving…'}
      {add.isError && 'Failed'}
      {add.isSuccess && 'Saved'}
    </div>
  );
}

function OptimisticVariables(props: Props) {
  const queryClient = useQueryClient();
  const todos = useTodos(props);
  const { isPending, isError, variables, mutate } = useMutation({
    mutationFn: (text: string) => props.api.post('/api/todos', { text }),
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
  const { mutateAsync } = useMutation({
    mutationFn: (text: string) => props.api.post('/api/todos', { text }),
  });
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
  const add = useMutation({ mutationFn: (text: string) => props.api.post('/api/todos', { text }) });
  return (
    <div>
      <button onClick={() => add.mutate('Milk')}>Add</button>
      {add.isPaused ? 'You are offline: saved later…' : add.isPending && 'Saving…'}
      {add.isError && 'Failed'}
      {add.isSuccess && 'Saved'}
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
