import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { createSteadfetch } from 'steadfetch';
import { SteadfetchDevtoolsPanel } from 'steadfetch/devtools';
import { createOutbox, outboxHandler } from 'steadfetch/outbox';
import { OutboxPanel, RetryStatus } from 'steadfetch/ui';
import 'steadfetch/ui.css';

// An app whose shop is down, and whose outbox has a note that was refused.
const steady = createSteadfetch({
  random: () => 0.5,
  fetch: async (input) => {
    const url = String(input instanceof Request ? input.url : input);
    const status = url.endsWith('/notes') ? 422 : url.endsWith('/menu') ? 200 : 503;
    return new Response('[]', { status, headers: { 'Content-Type': 'application/json' } });
  },
});
const queryClient = new QueryClient({ defaultOptions: steady.defaultOptions });
const note = outboxHandler({
  mutationFn: (text: string, { json }) =>
    json('https://notes.example/notes', { method: 'POST', json: text }),
});
const outbox = createOutbox({ steady, queryClient, handlers: { note } });
outbox.submit('note', 'Two red kites for Ann').delivered.catch(() => {});

function Shop() {
  useQuery({ queryKey: ['menu'], queryFn: () => steady.json('/menu') });
  useQuery({ queryKey: ['products'], queryFn: () => steady.json('/products') });
  return null;
}

createRoot(document.querySelector('#page') as HTMLElement).render(
  <QueryClientProvider client={queryClient}>
    <Shop />
    <div id="components">
      <RetryStatus query={['products']} />
      <OutboxPanel describe={({ variables }) => String(variables)} edit={() => null} />
    </div>
    <div id="devtools">
      <SteadfetchDevtoolsPanel theme="light" />
    </div>
  </QueryClientProvider>,
);
