import {
  focusManager,
  onlineManager,
  QueryClient,
  QueryClientProvider,
  useQuery,
} from '@tanstack/react-query';
import { render } from '@testing-library/react';
import { Component, type ReactNode, StrictMode } from 'react';
import { createSteadfetch, type Steadfetch } from 'steadfetch';
import { vi } from 'vitest';
import { addMoment, type Cell, cellOf, type Moment } from './cell.ts';
import { createServer, type Server, type Trouble } from './server.ts';
import { settle, startTime } from './time.ts';
import type { Api, Props, Tutorial } from './tutorial.ts';

/** React Query alone; with our default options and nothing else; with our `json` in the place of `fetch`, too. */
export type World = 'alone' | 'fetch' | 'json';

/** Longer than any pause may last, after the longest trouble. */
const watchedMs = 100_000;
/** A page loads, and is read, before its trouble begins. */
const loadedMs = 1000;
/** What was thrown outside of the boundaries of the component has taken the page down. */
class Page extends Component<{ children: ReactNode; onThrow: (error: unknown) => void }> {
  override state = { isDown: false };
  static getDerivedStateFromError = (): object => ({ isDown: true });
  override componentDidCatch(error: unknown): void {
    this.props.onThrow(error);
  }
  override render(): ReactNode {
    return this.state.isDown ? null : this.props.children;
  }
}

/** What surrounds the component in an app, and shows nothing here. */
function Shell({ api }: Props) {
  useQuery({
    queryKey: ['session'],
    queryFn: () => api.get('/api/session'),
    refetchInterval: 10_000,
  });
  return null;
}

/** As every tutorial has it. */
const plainApi: Api = {
  get: async <T,>(path: string) => {
    const response = await fetch(path);
    if (!response.ok) throw new Error(`The server answered ${response.status}`);
    return (await response.json()) as T;
  },
  post: async (path, body) => {
    const response = await fetch(path, { method: 'POST', body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`The server answered ${response.status}`);
    return response.json();
  },
};

const steadyApi = (steady: Steadfetch): Api => ({
  get: (path) => steady.json(path),
  post: (path, body) => steady.json(path, { method: 'POST', body: JSON.stringify(body) }),
});

/** What can be read, with a button in brackets: `[Refresh] Updating… list 1`. */
function textOf(node: Node): string {
  if (node.nodeType === Node.TEXT_NODE) return node.textContent?.trim() ?? '';
  const parts = [...node.childNodes].map(textOf).filter((text) => text !== '');
  return node.nodeName === 'BUTTON' ? `[${parts.join('')}]` : parts.join(' ');
}

function setOnline(isOnline: boolean, isSilent = false): void {
  vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(isOnline);
  if (!isSilent) window.dispatchEvent(new Event(isOnline ? 'online' : 'offline'));
}

/** Silences what is expected, and replaces what jsdom lacks. Returns how to undo it. */
function prepareWindow(server: Server): () => void {
  vi.stubGlobal('fetch', server.fetch);
  vi.spyOn(window, 'scrollTo').mockImplementation(() => {});
  for (const name of ['error', 'warn'] as const)
    vi.spyOn(console, name).mockImplementation(() => {});
  return () => {
    onlineManager.setOnline(true);
    focusManager.setFocused(undefined);
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  };
}

/** Watches one component through one trouble. */
export async function runCell(tutorial: Tutorial, trouble: Trouble, world: World): Promise<Cell> {
  const { App, act, isStrict, broken = 'GET /api/list' } = tutorial;
  const time = startTime();
  const server = createServer(() => Date.now());
  const restoreWindow = prepareWindow(server);
  const steady =
    world === 'alone' ? undefined : createSteadfetch({ random: () => 0.5, ...trouble.config?.() });
  const client = new QueryClient(steady && { defaultOptions: steady.defaultOptions });
  const api = steady && world === 'json' ? steadyApi(steady) : plainApi;
  const moments: Moment[] = [];
  let beganAt = Infinity;
  let thrown: string | undefined;

  const watch = (): void => {
    const atMs = Date.now() - beganAt;
    if (atMs < 0) return;
    const statuses = client
      .getQueryCache()
      .getAll()
      .map(({ state }) => state.fetchStatus);
    addMoment(moments, {
      atMs,
      text: textOf(view.container),
      isFetching: statuses.includes('fetching'),
      isPaused: statuses.includes('paused'),
      isOnline: navigator.onLine,
      stored: [...server.stored],
    });
  };
  const page = (children: ReactNode): ReactNode => {
    const app = (
      <Page onThrow={(error) => (thrown = String(error))}>
        <QueryClientProvider client={client}>{children}</QueryClientProvider>
      </Page>
    );
    return isStrict ? <StrictMode>{app}</StrictMode> : app;
  };
  const open = (): void => {
    const shell = trouble.hasShell && <Shell api={api} />;
    view.rerender(
      page(
        <>
          <App api={api} />
          {shell}
        </>,
      ),
    );
  };
  const begin = (): void => {
    beganAt = Date.now();
    server.begin(trouble, broken);
    if (trouble.offlineMs === undefined) return;
    setOnline(false, trouble.isLoadedOffline);
    setTimeout(() => setOnline(true), trouble.offlineMs);
  };

  const view = render(page(null));
  if (act) {
    await settle(open);
    await time.advance(loadedMs, watch);
  }
  await settle(begin);
  await settle(act ?? open);
  watch();
  await time.advance(watchedMs, watch);

  view.unmount();
  client.clear();
  steady?.dispose();
  restoreWindow();
  time.end();
  return cellOf(moments, tutorial, {
    thrown: thrown ?? (time.isLooping() ? 'It loops' : undefined),
    requests: server.requests.length,
    endMs: watchedMs,
  });
}
