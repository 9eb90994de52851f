import { useMutation } from '@tanstack/react-query';
import { mutationOptions } from 'steadfetch';
import { steady } from './steady.ts';

const saveDraft = (id: string) =>
  mutationOptions(steady, {
    // One after the other: the last draft is saved last.
    scope: { id: `draft ${id}` },
    mutationFn: (text: string, { json }) =>
      json(`/api/drafts/${id}`, { method: 'PUT', json: { text } }),
  });

export function Draft({ id }: { readonly id: string }) {
  const { mutate } = useMutation(saveDraft(id));
  return <textarea onBlur={({ target }) => mutate(target.value)} />;
}
