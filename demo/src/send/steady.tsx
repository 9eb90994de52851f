import { QueryClient } from '@tanstack/react-query';
import { createSteadfetch, profiles, watchConnectivity } from 'steadfetch';
import { createOutbox, type OutboxEntry, outboxHandler } from 'steadfetch/outbox';
import { useOutboxMutation } from 'steadfetch/react';
import { ConnectionBanner, type EditControls, OutboxPanel } from 'steadfetch/ui';
import { EditNote } from './edit-note.tsx';
import { type Note, NoteButton, type Receipt } from './note.tsx';

const steady = createSteadfetch({
  // This API honours the Idempotency-Key.
  apis: [{ match: /\/api\//, idempotency: profiles.draft }],
  connectivity: watchConnectivity({ check: 'api/here' }),
});
export const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });

// Written to the disk first, and sent from there: also by the next page.
export const outbox = createOutbox({
  steady,
  queryClient,
  name: 'steadfetch-demo',
  handlers: {
    note: outboxHandler({
      mutationFn: ({ url, words }: Note, { json }) => json<Receipt>(url, { json: { words } }),
      // With the waits of React Query: 1, 2 and 4 s; then every 8 s, because it does not give up.
      policy: { backoff: 'none', capMs: 8000 },
    }),
  },
});
const sendNote = outbox.mutationOptions('note');

const describeNote = ({ variables }: OutboxEntry) => `“${(variables as Note).words}”`;
const editNote = ({ variables }: OutboxEntry, controls: EditControls) => (
  <EditNote note={variables as Note} {...controls} />
);

export function NoteForm({ note }: { readonly note: Note }) {
  const { mutate } = useOutboxMutation(sendNote);
  return (
    <>
      <NoteButton label="Steadfetch" note={note} onSend={mutate} />
      <ConnectionBanner />
      <OutboxPanel describe={describeNote} edit={editNote} />
    </>
  );
}
