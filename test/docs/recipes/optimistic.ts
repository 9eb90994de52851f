import { mutationOptions, outcomeOf } from 'steadfetch';
import { queryClient, steady } from './steady.ts';

interface Todo {
  readonly id: string;
  readonly isDone: boolean;
}

const queryKey = ['todos'];

export const check = mutationOptions(steady, {
  mutationFn: ({ id }: { id: string }, { json }) =>
    json<Todo>(`/api/todos/${id}/check`, { json: {}, method: 'POST' }),
  async onMutate({ id }) {
    await queryClient.cancelQueries({ queryKey });
    const before = queryClient.getQueryData<Todo[]>(queryKey);
    queryClient.setQueryData<Todo[]>(queryKey, (todos) =>
      todos?.map((todo) => (todo.id === id ? { ...todo, isDone: true } : todo)),
    );
    return { before };
  },
  onError(error, _, result) {
    // What may have taken effect is not taken back: the refetch shows what is true.
    if (outcomeOf(error).processed === 'no') queryClient.setQueryData(queryKey, result?.before);
  },
  onSettled: () => queryClient.invalidateQueries({ queryKey }),
});
