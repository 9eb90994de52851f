import {
  focusManager,
  onlineManager,
  QueryClient,
  QueryClientProvider,
} from '@tanstack/react-query';
import { act, render } from '@testing-library/react';
import { Component, type ReactNode, StrictMode } from 'react';
import { createSteadfetch, type Steadfetch } from 'steadfetch';
import { vi } from 'vitest';
import { createServer, type Trouble } from './server.ts';
import type { Api, Tutorial } from './tutorial.ts';

/** React Query alone; with our default options and nothing else; with our `json` in the place of `fetch`, too. */
export type World = 'alone' | 'fetch' | 'json';

/** What one component shows in one trouble. All times are milliseconds since the trouble began. */
export interface Cell {
  /** What was on the screen, from when on. */
  readonly screens: readonly (readonly [atMs: number, text: string])[];
  /** When all was seen that the user wants to see. */
  readonly contentMs: number | undefined;
  /** When a failure was shown first. */
  readonly failedMs: number | undefined;
  /** When the awaited promise was settled. */
  readonly awaitedMs: number | undefined;
  /** The error that has taken the whole page down. */
  readonly thrown: string | undefined;
  /** When the page was blank first. */
  readonly blankMs: number | undefined;
  /** A word that was not true. */
  readonly untrue: string | undefined;
  readonly requests: number;
  /** How long it was watched. */
  readonly endMs: number;
  /** How long a query was `fetching`, and `paused`. */
  readonly flags: Readonly<Record<'fetching' | 'paused', number>>;
}

const startMs = Date.UTC(2026, 0, 1);
/** Longer than any pause may last, after the longest trouble. */
const watchedMs = 100_000;
/** A page loads, and is read, before its trouble begins. */
const loadedMs = 1000;
/** More than any run takes, unless it loops. */
const maxSteps = 5000;

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

/** Virtual time without MSW: all that happens at one time is done within few turns. */
function startTime() {
  vi.useFakeTimers({
    now: startMs,
    toFake: [
      'setTimeout',
      'clearTimeout',
      'setInterval',
      'clearInterval',
      'Date',
      'performance',
      'requestAnimationFrame',
      'cancelAnimationFrame',
    ],
  });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const settle = (work?: () => void): Promise<void> =>
    act(async () => {
      work?.();
      await turn();
      await turn();
    });
  let steps = 0;
  return {
    now: () => Date.now(),
    settle,
    /** Lets time pass from timer to timer, and shows each moment. */
    async advance(ms: number, onMoment: () => void): Promise<void> {
      let isOver = false;
      setTimeout(() => (isOver = true), ms);
      while (!isOver && steps < maxSteps) {
        steps += 1;
        await settle(() => vi.advanceTimersToNextTimer());
        onMoment();
      }
    },
    isLooping: () => steps >= maxSteps,
  };
}

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

/** Watches one component through one trouble. */
export async function runCell(tutorial: Tutorial, trouble: Trouble, world: World): Promise<Cell> {
  const { App, content = ['list 2'], broken = 'GET /api/list', awaits, claims = {} } = tutorial;
  const time = startTime();
  const server = createServer(time.now);
  vi.stubGlobal('fetch', server.fetch);
  vi.spyOn(window, 'scrollTo').mockImplementation(() => {});
  const silent = (['error', 'warn'] as const).map((name) =>
    vi.spyOn(console, name).mockImplementation(() => {}),
  );
  const steady =
    world === 'alone' ? undefined : createSteadfetch({ random: () => 0.5, ...trouble.config?.() });
  const client = new QueryClient(steady && { defaultOptions: steady.defaultOptions });
  const api = steady && world === 'json' ? steadyApi(steady) : plainApi;

  let beganAt = Infinity;
  const screens: [number, string][] = [];
  const seen = new Map<string, number>();
  const flags = { fetching: 0, paused: 0 };
  let thrown: string | undefined;
  let awaitedMs: number | undefined;
  let untrue: string | undefined;
  let lastMs = 0;
  let states: readonly (keyof typeof flags)[] = [];

  const watch = (): void => {
    if (time.now() < beganAt) return;
    const atMs = time.now() - beganAt;
    const text = textOf(view.container);
    if (screens.at(-1)?.[1] !== text) screens.push([atMs, text]);
    for (const word of [...content, 'Failed'])
      if (!seen.has(word) && text.includes(word)) seen.set(word, atMs);
    if (awaits !== undefined && text.includes(awaits)) awaitedMs = Infinity;
    else if (awaitedMs === Infinity) awaitedMs = atMs;
    for (const [word, isTrue] of Object.entries(claims))
      if (text.includes(word) && !isTrue({ stored: server.stored, isOnline: navigator.onLine }))
        untrue ??= word;
    for (const state of states) flags[state] += atMs - lastMs;
    lastMs = atMs;
    const all = client.getQueryCache().getAll();
    states = (['fetching', 'paused'] as const).filter((name) =>
      all.some(({ state }) => state.fetchStatus === name),
    );
  };
  const page = (children: ReactNode): ReactNode => {
    const app = (
      <Page onThrow={(error) => (thrown = String(error))}>
        <QueryClientProvider client={client}>{children}</QueryClientProvider>
      </Page>
    );
    return tutorial.isStrict ? <StrictMode>{app}</StrictMode> : app;
  };
  const begin = (): void => {
    beganAt = time.now();
    server.begin(trouble, broken);
    if (trouble.offlineMs === undefined) return;
    setOnline(false, trouble.isLoadedOffline);
    setTimeout(() => setOnline(true), trouble.offlineMs);
  };

  const view = render(page(null));
  if (tutorial.act) {
    await time.settle(() => view.rerender(page(<App api={api} />)));
    await time.advance(loadedMs, watch);
    await time.settle(begin);
    await time.settle(tutorial.act);
  } else {
    await time.settle(begin);
    await time.settle(() => view.rerender(page(<App api={api} />)));
  }
  watch();
  await time.advance(watchedMs, watch);

  view.unmount();
  client.clear();
  steady?.dispose();
  onlineManager.setOnline(true);
  focusManager.setFocused(undefined);
  for (const spy of silent) spy.mockRestore();
  vi.useRealTimers();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  const at = content.map((word) => seen.get(word));
  return {
    screens,
    contentMs: at.some((ms) => ms === undefined) ? undefined : Math.max(...at.map(Number)),
    failedMs: seen.get('Failed'),
    awaitedMs,
    thrown: thrown ?? (time.isLooping() ? 'It loops' : undefined),
    blankMs: screens.find(([, text]) => text === '')?.[0],
    untrue,
    requests: server.requests.length,
    endMs: watchedMs,
    flags,
  };
}
