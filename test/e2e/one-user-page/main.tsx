import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { createSteadfetch } from 'steadfetch';
import { seededRandom } from 'steadfetch/testing';

// A fresh page that asks all its queries at once, under Steadfetch or React Query's defaults.
// `?queries=6&seed=1` with Steadfetch, `?queries=6` without.

const options = new URLSearchParams(location.search);
const seed = options.get('seed');

/** Requests, and those that have neither been answered nor failed. The server knows how many of them hang. */
const page = { sent: 0, open: 0 };
const counted: typeof fetch = async (input, init) => {
  page.sent += 1;
  page.open += 1;
  try {
    const response = await fetch(input, init);
    // Its body comes after it.
    await response.clone().arrayBuffer();
    return response;
  } finally {
    page.open -= 1;
  }
};
Object.assign(window, { page });

const steady =
  seed === null
    ? undefined
    : createSteadfetch({ random: seededRandom(Number(seed)), fetch: counted });
const client = new QueryClient(steady && { defaultOptions: steady.defaultOptions });

async function ask(url: string, signal: AbortSignal): Promise<string> {
  if (steady) return steady.json<string>(url, { signal });
  const response = await counted(url, { signal });
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  return (await response.json()) as string;
}

function Item({ number }: { readonly number: number }) {
  const { data, status } = useQuery({
    queryKey: ['item', number],
    queryFn: ({ signal }) => ask(`/api/${number}`, signal),
  });
  return <li>{data ?? status}</li>;
}

createRoot(document.querySelector('#root') ?? document.body).render(
  <QueryClientProvider client={client}>
    <ul>
      {Array.from({ length: Number(options.get('queries')) }, (_, number) => (
        <Item key={number} number={number} />
      ))}
    </ul>
  </QueryClientProvider>,
);
