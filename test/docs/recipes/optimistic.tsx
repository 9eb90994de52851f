import { useMutation, useMutationState, useQuery } from '@tanstack/react-query';
import { mutationOptions } from 'steadfetch';
import { queryClient, steady } from './steady.ts';

export interface Todo {
  readonly id: string;
  readonly isDone: boolean;
}

const queryKey = ['todos'];
const mutationKey = ['todos', 'check'];

const check = mutationOptions(steady, {
  mutationKey,
  mutationFn: ({ id }: { id: string }, { json }) =>
    json<Todo>(`/api/todos/${id}/check`, { json: {}, method: 'POST' }),
  onSuccess: (checked) =>
    queryClient.setQueryData<Todo[]>(queryKey, (todos) =>
      todos?.map((todo) => (todo.id === checked.id ? checked : todo)),
    ),
  // Awaited: the change is pending, and so is shown, until the list is there that has it or not.
  onSettled: () => queryClient.invalidateQueries({ queryKey }),
});

export function Todos() {
  const { data: todos } = useQuery({
    queryKey,
    queryFn: ({ signal }) => steady.json<Todo[]>('/api/todos', { signal }),
  });
  const { mutate } = useMutation(check);
  const pending = useMutationState({
    filters: { mutationKey, status: 'pending' },
    select: ({ state }) => (state.variables as { id: string }).id,
  });
  return todos?.map(({ id, isDone }) => (
    <label key={id}>
      <input
        type="checkbox"
        checked={isDone || pending.includes(id)}
        onChange={() => mutate({ id })}
      />
      Todo {id}
    </label>
  ));
}
