import { QueryClient, useMutation } from '@tanstack/react-query';
import { type Note, NoteButton, type Receipt } from './note.tsx';

export const queryClient = new QueryClient();

export function NoteForm({ note }: { readonly note: Note }) {
  const { mutate, isPaused, isPending, isSuccess, isError } = useMutation({
    mutationFn: async ({ url, words }: Note): Promise<Receipt> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          // It looks right, and is another one on every attempt.
          'Idempotency-Key': `"${crypto.randomUUID()}"`,
        },
        body: JSON.stringify({ words }),
      });
      if (!response.ok) throw new Error(`${response.status}`);
      return response.json();
    },
    retry: 3,
  });
  return (
    <>
      <NoteButton label="React Query alone" note={note} onSend={mutate} />
      <p role="status">
        {isPending && (isPaused ? 'Waiting for the network …' : 'Sending …')}
        {isSuccess && 'Sent'}
        {isError && 'Something went wrong. Please try again.'}
      </p>
    </>
  );
}
