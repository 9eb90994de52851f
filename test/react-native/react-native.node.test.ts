import type * as ReactQuery from '@tanstack/react-query';
import type * as Steadfetch from 'steadfetch';
import type * as Outbox from 'steadfetch/outbox';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { noOrigin } from '../setup/no-origin.ts';
import { enterReactNative, NativeResponse } from '../setup/react-native.ts';

// React Query finds out at its import that this is no server, so all is imported in there.
let query: typeof ReactQuery;
let steadfetch: typeof Steadfetch;
let outbox: typeof Outbox;
let leave: () => void;

beforeAll(async () => {
  vi.resetModules();
  leave = enterReactNative();
  query = await import('@tanstack/react-query');
  steadfetch = await import('steadfetch');
  outbox = await import('steadfetch/outbox');
});
afterAll(() => leave());

const url = 'https://api.example';

/** NetInfo, as far as it is used: it tells the state at once, and each change. */
function createNetInfo() {
  type State = { readonly isConnected: boolean | null; readonly isInternetReachable?: boolean };
  const listeners = new Set<(state: State) => void>();
  let state: State = { isConnected: null };
  return {
    listeners,
    set(next: State) {
      state = next;
      for (const listener of listeners) listener(next);
    },
    addEventListener(listener: (state: State) => void) {
      listeners.add(listener);
      listener(state);
      return () => void listeners.delete(listener);
    },
  };
}

/** AppState, as far as it is used. */
function createAppState() {
  const listeners = new Set<(state: string) => void>();
  return {
    set: (state: string) => listeners.forEach((listener) => listener(state)),
    addEventListener(_: 'change', listener: (state: string) => void) {
      listeners.add(listener);
      return { remove: () => void listeners.delete(listener) };
    },
  };
}

type Plan = number | 'cut' | 'hang';

/** An app on virtual time, with an API that answers each path by its plan, and then 200. */
function createApp(config: Steadfetch.SteadfetchConfig = {}) {
  vi.useFakeTimers();
  const startedAt = Date.now();
  const sent: { at: number; path: string; method: string; key: string | null }[] = [];
  const plans: Record<string, Plan[]> = {};
  const net = { isCut: false };
  const fetch = async (input: string | { readonly url: string }, init: RequestInit = {}) => {
    const target = typeof input === 'string' ? input : input.url;
    const path = target.replace(url, '');
    const headers = new Headers(init.headers);
    sent.push({
      at: Date.now() - startedAt,
      path,
      method: init.method ?? 'GET',
      key: headers.get('idempotency-key'),
    });
    const plan = net.isCut ? 'cut' : (plans[path]?.shift() ?? 200);
    if (plan === 'cut') throw new TypeError('Network request failed');
    if (plan === 'hang')
      return new Promise<never>((_, reject) => {
        init.signal?.addEventListener('abort', () => reject(new Error('Aborted')));
      });
    const type = { 'content-type': 'application/json' };
    return new NativeResponse(JSON.stringify(`${path} ${plan}`), {
      status: plan,
      headers: type,
      url: target,
    });
  };
  const steady = steadfetch.createSteadfetch({
    random: () => 0.5,
    ...noOrigin,
    fetch: fetch as unknown as typeof globalThis.fetch,
    ...config,
  });
  const client = new query.QueryClient({ defaultOptions: steady.defaultOptions });
  client.mount();
  onTestFinished(() => {
    client.unmount();
    client.clear();
    steady.dispose();
    query.onlineManager.setOnline(true);
    query.focusManager.setFocused(undefined);
    vi.useRealTimers();
  });
  const times = (path: string) => sent.filter((one) => one.path === path).map(({ at }) => at);
  return { steady, client, sent, plans, net, times };
}

/** Something that the app has loaded. */
function polyfill(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(globalThis, name));
}

const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const dataOf = (client: ReactQuery.QueryClient, key: string) => client.getQueryData([key]);

test('this is no server, and has no page', () => {
  expect(query.environmentManager.isServer()).toBe(false);
  expect(typeof document).toBe('undefined');
  expect('reason' in new AbortController().signal).toBe(false);
});

test('a query that fails is retried, and recovers', async () => {
  const { steady, client, plans, times } = createApp();
  plans['/a'] = [503, 'cut'];
  const queryFn = ({ signal }: { signal: AbortSignal }) => steady.json(`${url}/a`, { signal });
  void client.fetchQuery({ queryKey: ['a'], queryFn });
  await advance(10_000);
  expect(times('/a')).toEqual([0, 500, 1500]);
  expect(dataOf(client, 'a')).toBe('/a 200');
});

test('a Request is sent, and the error of an answer has its body', async () => {
  const { steady, plans, sent } = createApp();
  plans['/a'] = [404];
  const error: unknown = await steady
    .fetch(new Request(`${url}/a`, { method: 'PUT' }))
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: 'HttpError', status: 404 });
  expect(await (error as { response: Response }).response.json()).toBe('/a 404');
  expect(sent).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('a caller that aborts gets an AbortError, as its signal has no reason', async () => {
  const { steady, plans } = createApp();
  plans['/a'] = ['hang'];
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = { name: 'AbortError', message: 'This operation was aborted' };
  const sending = steady.fetch(`${url}/a`, { signal });
  const looping = steadfetch.retry(steady, () => new Promise(() => {}), { signal });
  const both = Promise.allSettled([sending, looping]);
  await advance(100);
  controller.abort();
  expect(
    (await both).map((one) => one.status === 'rejected' && { ...(one.reason as object) }),
  ).toEqual([{ name: 'AbortError' }, { name: 'AbortError' }]);
  await expect(sending).rejects.toMatchObject(aborted);
  await expect(steady.fetch(`${url}/a`, { signal })).rejects.toMatchObject(aborted);
  await expect(steadfetch.retry(steady, () => 1, { signal })).rejects.toMatchObject(aborted);
});

test('a time limit ends a request', async () => {
  const { steady, plans } = createApp();
  plans['/a'] = ['hang'];
  const sending = steady.fetch(`${url}/a`, { timeout: 1000 }).catch((thrown: unknown) => thrown);
  await advance(1000);
  expect(await sending).toMatchObject({ name: 'TimeoutError' });
});

test('retry goes on until it succeeds, with a signal of its caller', async () => {
  const { steady, plans, times } = createApp();
  plans['/a'] = [503, 'hang', 503];
  const controller = new AbortController();
  const result = steadfetch.retry(
    steady,
    ({ signal }) => steady.json(`${url}/a`, { signal, timeout: 1000 }),
    { signal: controller.signal },
  );
  await advance(20_000);
  expect(await result).toBe('/a 200');
  expect(times('/a')).toEqual([0, 500, 2500, 4500]);
});

test('a mutation with a key needs the strong randomness that a polyfill brings', async () => {
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {});
  onTestFinished(() => warned.mockRestore());
  const { steady, client, plans, sent } = createApp({
    apis: [{ match: url, idempotency: steadfetch.profiles.draft }],
  });
  const options = steadfetch.mutationOptions(steady, {
    mutationFn: (sku: string, { json }) => json<string>(`${url}/orders`, { json: { sku } }),
  });
  const mutate = () => new query.MutationObserver(client, options).mutate('kite');
  await expect(mutate()).rejects.toThrow(
    'An idempotency key needs crypto.randomUUID or crypto.getRandomValues.',
  );
  expect(sent).toEqual([]);
  expect(warned).not.toHaveBeenCalled();

  // As react-native-get-random-values brings it.
  polyfill('crypto', { getRandomValues: (words: Uint32Array) => words.fill(7) });
  plans['/orders'] = ['cut', 503];
  const ordered = mutate();
  await advance(10_000);
  expect(await ordered).toBe('/orders 200');
  const key = '"00000007-0000-4007-8000-000700000007"';
  expect(sent.map((one) => one.key)).toEqual([key, key, key]);
});

test('a FormData, which nobody can read there, is sent as it is, and refused with a key', async () => {
  const { steady, sent } = createApp({
    apis: [{ match: url, idempotency: steadfetch.profiles.draft }],
  });
  const body = new FormData();
  body.append('sku', 'kite');
  await steady.fetch(`${url}/a`, { method: 'POST', body });
  expect(sent).toHaveLength(1);
  await expect(
    steady.fetch(`${url}/a`, { method: 'POST', body, idempotencyKey: 'k' }),
  ).rejects.toThrow(
    'steady.fetch: body is a FormData that cannot be read. A request with an idempotency key is sent again: give text or a Blob.',
  );
  expect(sent).toHaveLength(1);
});

test('an outbox says what it lacks and, with that, delivers from memory', async () => {
  const { steady, client, plans } = createApp({
    apis: [{ match: url, idempotency: steadfetch.profiles.draft }],
  });
  const create = () =>
    outbox.createOutbox({
      steady,
      queryClient: client,
      handlers: {
        order: {
          mutationFn: (sku: string, { json }) =>
            json<string>(`${url}/orders`, { method: 'POST', json: { sku } }),
        },
      },
    });
  expect(create).toThrow(
    'createOutbox: structuredClone is missing here, and must be there: see node_modules/steadfetch/docs/react-native.md.',
  );
  polyfill('crypto', { getRandomValues: (words: Uint32Array) => words.fill(7) });
  polyfill('structuredClone', (value: unknown) => JSON.parse(JSON.stringify(value)) as unknown);
  const box = create();
  onTestFinished(() => box.dispose());
  plans['/orders'] = [503];
  const { delivered } = box.submit('order', 'kite');
  await advance(10_000);
  expect(await delivered).toBe('/orders 200');
  expect(box.getState().storage).toBe('unavailable');
});

function createConnected(check?: string, config: Steadfetch.SteadfetchConfig = {}) {
  const netInfo = createNetInfo();
  const appState = createAppState();
  const connectivity = steadfetch.watchConnectivity({ source: netInfo, check });
  const app = createApp({ connectivity, ...config });
  // As the documentation of React Query says.
  query.focusManager.setEventListener((setFocused) => {
    const { remove } = appState.addEventListener('change', (state) =>
      setFocused(state === 'active'),
    );
    return remove;
  });
  const ask = (key: string) =>
    app.client.prefetchQuery({
      queryKey: [key],
      queryFn: ({ signal }) => app.steady.json(`${url}/${key}`, { signal }),
    });
  return { ...app, netInfo, appState, ask };
}

test('what NetInfo says is a hint: while requests are answered, nothing is paused', async () => {
  const { netInfo, ask, client, times } = createConnected();
  netInfo.set({ isConnected: false });
  await ask('a');
  expect(times('/a')).toEqual([0]);
  expect(dataOf(client, 'a')).toBe('/a 200');
  expect(query.onlineManager.isOnline()).toBe(true);
});

test('offline by NetInfo and by a request, queries are paused, and go when it is back', async () => {
  const { netInfo, ask, client, net, sent } = createConnected();
  net.isCut = true;
  netInfo.set({ isConnected: false });
  void ask('a');
  await advance(0);
  expect(query.onlineManager.isOnline()).toBe(false);
  void ask('b');
  await advance(100);
  expect(client.getQueryState(['b'])?.fetchStatus).toBe('paused');
  expect(sent.map(({ path }) => path)).toEqual(['/a']);
  net.isCut = false;
  netInfo.set({ isConnected: true });
  await advance(2000);
  expect([dataOf(client, 'a'), dataOf(client, 'b')]).toEqual(['/a 200', '/b 200']);
});

test('no internet behind a network that is there counts as offline', async () => {
  const { netInfo, ask, net } = createConnected();
  net.isCut = true;
  netInfo.set({ isConnected: true, isInternetReachable: false });
  void ask('a');
  await advance(0);
  expect(query.onlineManager.isOnline()).toBe(false);
});

test('a check of its own finds out at once, without a slash at its end', async () => {
  const { netInfo, net, times } = createConnected(`${url}/here.txt`);
  net.isCut = true;
  netInfo.set({ isConnected: false });
  await advance(0);
  expect(times('/here.txt')).toEqual([0]);
  expect(query.onlineManager.isOnline()).toBe(false);
  net.isCut = false;
  await advance(2000);
  expect(query.onlineManager.isOnline()).toBe(true);
});

test('an app that comes to the front while offline checks at once', async () => {
  const { netInfo, appState, net, times } = createConnected(`${url}/here.txt`);
  net.isCut = true;
  netInfo.set({ isConnected: false });
  appState.set('background');
  await advance(100);
  expect(times('/here.txt')).toEqual([0]);
  net.isCut = false;
  appState.set('active');
  await advance(0);
  expect(times('/here.txt')).toEqual([0, 100]);
  expect(query.onlineManager.isOnline()).toBe(true);
});

test.each([
  ['active', ['/hold', '/a', '/b']],
  ['background', ['/hold', '/b', '/a']],
])(
  'while the app is %s, a request that nobody has pressed for goes so: %s',
  async (state, order) => {
    const { steady, client, plans, appState, sent } = createConnected(undefined, {
      concurrency: steadfetch.limitConcurrency({ maxInFlight: 1 }),
    });
    polyfill('crypto', { getRandomValues: (words: Uint32Array) => words.fill(7) });
    plans['/hold'] = ['hang'];
    appState.set(state);
    void steady.fetch(`${url}/hold`, { timeout: 1000 }).catch(() => {});
    void steady.fetch(`${url}/a`);
    const options = steadfetch.mutationOptions(steady, {
      mutationFn: (_: void, { fetch }) => fetch(`${url}/b`, { method: 'PUT' }),
    });
    void new query.MutationObserver(client, options).mutate();
    await advance(1000);
    expect(sent.map(({ path }) => path)).toEqual(order);
  },
);

test('a retry waits in the background, and goes when the app comes to the front', async () => {
  const { appState, ask, client, plans, times } = createConnected();
  plans['/a'] = [503];
  void ask('a');
  await advance(0);
  appState.set('background');
  await advance(5000);
  expect(times('/a')).toEqual([0]);
  appState.set('active');
  await advance(0);
  expect(dataOf(client, 'a')).toBe('/a 200');
});

test('disposed of, it leaves no listener of NetInfo and no timer', async () => {
  const { netInfo, steady, net, ask } = createConnected();
  net.isCut = true;
  netInfo.set({ isConnected: false });
  void ask('a');
  await advance(0);
  expect(netInfo.listeners.size).toBeGreaterThan(0);
  steady.dispose();
  expect(netInfo.listeners.size).toBe(0);
  expect(query.onlineManager.isOnline()).toBe(true);
});

test('a source that is none, and a path without a page, are refused', () => {
  const { watchConnectivity } = steadfetch;
  expect(() => watchConnectivity({ source: {} as never })).toThrow(
    'watchConnectivity: source is {}, and must be an object with addEventListener, as NetInfo is.',
  );
  expect(() => watchConnectivity({ source: createNetInfo(), check: '/here.txt' })).toThrow(
    "watchConnectivity: check.url is '/here.txt', and must be a URL.",
  );
});
