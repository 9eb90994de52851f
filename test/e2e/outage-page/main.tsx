import { QueryClient, QueryClientProvider, useQuery } from '@tanstack/react-query';
import { createRoot } from 'react-dom/client';
import { createSteadfetch, shareAcrossTabs, watchConnectivity } from 'steadfetch';
import { useOriginStatus, useRetryStatus } from 'steadfetch/react';

// Twenty queries of two endpoints of one server, each asked again every ten seconds. Nothing to click.

let inFlight = 0;
const steady = createSteadfetch({
  connectivity: watchConnectivity(),
  tabs: shareAcrossTabs(),
  // Each tab has a chance of its own: else all would draw the same time for their first probe.
  random: () => Number(location.hash.slice(1)),
  async fetch(input, init) {
    inFlight += 1;
    try {
      const response = await fetch(input, init);
      // Its body comes after it.
      await response.clone().arrayBuffer();
      return response;
    } finally {
      inFlight -= 1;
    }
  },
});
const client = new QueryClient({ defaultOptions: steady.defaultOptions });

/** Resolves when no request is under way, and what came of the last is known. */
async function settle(): Promise<void> {
  do await fetch('/ping');
  while (inFlight > 0);
  await fetch('/ping');
}

// What a tab has said before an echo has been heard before it, too.
const channel = new BroadcastChannel('steadfetch');
const heard = new Set<unknown>();
channel.addEventListener('message', ({ data }: MessageEvent<{ readonly echo?: number }>) => {
  heard.add(data.echo);
});
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no target origin
const say = (echo: number): void => channel.postMessage({ echo });
async function hear(echo: number): Promise<void> {
  while (!heard.has(echo)) await fetch('/ping');
}
Object.assign(window, { tab: { settle, say, hear } });

function Item({ number }: { readonly number: number }) {
  const queryKey = ['item', number];
  const { data } = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      steady.json<{ version: number }>(`/api/${number % 2 ? 'stock' : 'prices'}/${number}`, {
        signal,
      }),
    refetchInterval: 10_000,
  });
  const { status, reason } = useRetryStatus({ queryKey });
  return (
    <li>
      {data ? `version ${data.version}` : 'nothing'}: {status} {reason}
    </li>
  );
}

function Page() {
  const { status } = useOriginStatus();
  return (
    <>
      <p role="status">{status}</p>
      <ul>
        {Array.from({ length: 20 }, (_, number) => (
          <Item key={number} number={number} />
        ))}
      </ul>
    </>
  );
}

createRoot(document.querySelector('#root') ?? document.body).render(
  <QueryClientProvider client={client}>
    <Page />
  </QueryClientProvider>,
);
