import { onlineManager, QueryClient, type QueryKey, QueryObserver } from '@tanstack/react-query';
import { createSteadfetch, type Steadfetch, watchConnectivity } from 'steadfetch';

// Queries, by React Query alone or with Steadfetch: what a test calls is `window.lab`.

let inFlight = 0;
const sent: string[] = [];
const counted: typeof fetch = async (input, init) => {
  const url = input instanceof Request ? input.url : String(input);
  if (!url.endsWith('/here')) sent.push(url);
  inFlight += 1;
  try {
    const response = await fetch(input, init);
    // Its body comes after it, but for one that is withheld.
    if (!url.endsWith('/body')) await response.clone().arrayBuffer();
    return response;
  } finally {
    inFlight -= 1;
  }
};

let limitMs = 10_000;
/** As the documentation of React Query has it, with the usual time limit. */
async function plainFetch(url: string, own: AbortSignal): Promise<unknown> {
  const signal = AbortSignal.any([own, AbortSignal.timeout(limitMs)]);
  const response = await counted(url, { signal });
  if (!response.ok) throw new Error(`${response.status}`);
  return response.json();
}

const observers: QueryObserver[] = [];
let steady: Steadfetch | undefined;
let client = new QueryClient();
const turn = (): Promise<unknown> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', resolve);
    port1.start();
    port2.postMessage(0);
  });

const lab = {
  sent,
  isRestored: false,
  /** What the browser has told this page last, by its event. */
  isTold: navigator.onLine,
  /** The app begins. */
  start(kind: 'react-query' | 'steadfetch', timeoutMs = 10_000) {
    limitMs = timeoutMs;
    if (kind === 'steadfetch') {
      steady = createSteadfetch({
        fetch: counted,
        random: () => 0.5,
        policy: { timeout: timeoutMs },
        connectivity: watchConnectivity({
          check: { url: '/here', expect: ({ status }) => status === 204 },
        }),
      });
      client = new QueryClient({ defaultOptions: steady.defaultOptions });
    }
    client.mount();
  },
  ask(url: string) {
    const queryKey: QueryKey = [url];
    const observer = new QueryObserver(client, {
      queryKey,
      queryFn: ({ signal }) => (steady ? steady.json(url, { signal }) : plainFetch(url, signal)),
    });
    observer.subscribe(() => {});
    observers.push(observer);
  },
  /** A plain mutation, which is React Query's to pause and resume. */
  change(url: string) {
    const mutationFn = (): Promise<unknown> =>
      steady ? steady.json(url, { method: 'POST' }) : plainFetch(url, new AbortController().signal);
    void client.getMutationCache().build(client, { mutationFn }).execute(undefined);
  },
  /** What each query shows, and how often it has failed. */
  show: () =>
    observers.map((observer) => {
      const { status, fetchStatus, failureCount } = observer.getCurrentResult();
      const state = fetchStatus === 'idle' ? status : fetchStatus;
      return failureCount > 0 ? `${state} after ${failureCount}` : state;
    }),
  isOnline: () => onlineManager.isOnline(),
  /** No more requests than these are under way, and what came of the others is known. */
  async settle(underWay = 0) {
    do for (let turns = 0; turns < 20; turns += 1) await turn();
    while (inFlight > underWay);
    for (let turns = 0; turns < 20; turns += 1) await turn();
  },
};
addEventListener('pageshow', ({ persisted }) => (lab.isRestored = persisted));
for (const type of ['online', 'offline'] as const)
  addEventListener(type, () => (lab.isTold = type === 'online'));
Object.assign(window, { lab });

export type Lab = typeof lab;
